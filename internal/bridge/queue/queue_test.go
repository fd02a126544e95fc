package queue_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
	"github.com/fairlead/fairlead/internal/bridge/queue"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/store/sqlite"
)

const configuration = `
pools:
  bridged: {policy: fifo}
`

// other is the other queue: a server on a database, with an agent.
type other struct {
	dir, socket string
	stop        func() // stops the server
}

func start(t testing.TB, cpus int64) *other {
	t.Helper()
	o := &other{dir: t.TempDir()}
	o.socket = filepath.Join(o.dir, "s")
	o.serve(t)
	t.Cleanup(func() { o.stop() })
	client, err := api.Dial(o.socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		err := agent.Run(ctx, agent.Options{
			Client: client, Name: "n1", Dir: filepath.Join(o.dir, "agent"), AllowRoot: true,
			Capacity: map[string]int64{"cpu": cpus}, Drain: time.Millisecond,
		})
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait(); client.Close() })
	return o
}

// serve runs the server on the contents of its database.
func (o *other) serve(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	store, err := sqlite.Open(ctx, filepath.Join(o.dir, "fairlead.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("test", []byte(configuration))
	if err != nil {
		t.Fatal(err)
	}
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{Shares: c.Shares})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", o.socket)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { loop.Run(ctx) })
	wg.Go(func() { server.New(server.Options{Loop: loop, Store: store}).Serve(ctx, listener) })
	o.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
}

func (o *other) open(t testing.TB) bridge.QS {
	t.Helper()
	q, err := queue.Open(queue.Options{Address: o.socket, Pool: "bridged"})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestQueue(t *testing.T) {
	o := start(t, 1)
	bridgetest.Run(t, func(t *testing.T) *bridgetest.Rig {
		return &bridgetest.Rig{
			QS: o.open(t), Reopen: func(t *testing.T) bridge.QS { return o.open(t) }, Levels: []int64{0, 1, 4}, Many: 40,
			Restart: func(t *testing.T) { o.stop(); o.serve(t) },
		}
	})
}

// TestDescribe checks that Describe reports a pool whose policy does not obey priorities.
func TestDescribe(t *testing.T) {
	o := start(t, 1)
	for pool, found := range map[string]string{"bridged": "", "nowhere": "add `nowhere: {policy: fifo}` to its pools"} {
		q, err := queue.Open(queue.Options{Address: o.socket, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Describe(t.Context())
		said := ""
		if len(got.Found) > 0 {
			said = got.Found[0].Text
		}
		if err != nil || got.Obeys != frontback.Yes || got.Highest != 4 || !strings.Contains(said, found) ||
			(found == "") != (said == "") {
			t.Errorf("%s: got %+v, %v", pool, got, err)
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}
}
