package queue_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/store/sqlite"
)

// BenchmarkSubmit measures how fast jobs come into the other queue: by its own client in calls of 200, by the
// adapter, and through a bridge of a server on a database.
func BenchmarkSubmit(b *testing.B) {
	for _, who := range []struct {
		name string
		run  func(*testing.B, *other)
	}{{"client", byClient}, {"adapter", byAdapter}, {"bridge", byBridge}} {
		b.Run(who.name, func(b *testing.B) {
			o := start(b, 0)
			who.run(b, o)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

const batch = 200

func dialed(b *testing.B, address string) *api.Client {
	b.Helper()
	c, err := api.Dial(address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}

func specs(n, first int, pool string) []api.Spec {
	all := make([]api.Spec, n)
	for i := range all {
		all[i] = api.Spec{Pool: pool, Priority: "low", Argv: []string{"true"}, Dir: "/", Key: fmt.Sprint("bench-", first+i)}
	}
	return all
}

func byClient(b *testing.B, o *other) {
	c := dialed(b, o.socket)
	b.ResetTimer()
	submitAll(b, c, "bridged")
}

// submitAll submits b.N jobs.
func submitAll(b *testing.B, c *api.Client, pool string) {
	b.Helper()
	for n := 0; n < b.N; n += batch {
		r, err := c.Jobs.Submit(b.Context(), api.SubmitRequest{Jobs: specs(min(batch, b.N-n), n, pool), Unsatisfiable: true})
		if err != nil || r.Jobs[0].Error != nil {
			b.Fatal(r, err)
		}
	}
}

func byAdapter(b *testing.B, o *other) {
	q := o.open(b)
	b.Cleanup(func() { q.Close() })
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		var all []bridge.Submission
		for i := range min(batch, b.N-n) {
			j := specs(1, n+i, "")[0].ToJob()
			all = append(all, bridge.Submission{Marker: fmt.Sprint("bench-", n+i), Priority: 1, Job: &j})
		}
		if _, err := q.Submit(b.Context(), all); err != nil {
			b.Fatal(err)
		}
	}
}

// byBridge measures from the moment at which all jobs wait at the server and the bridge begins.
func byBridge(b *testing.B, o *other) {
	ctx, cancel := context.WithCancel(context.Background())
	dir := b.TempDir()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "jobs.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{})
	if err != nil {
		b.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	b.Cleanup(func() { cancel(); wg.Wait(); store.Close() })
	wg.Go(func() { loop.Run(ctx) })
	wg.Go(func() { server.New(server.Options{Loop: loop, Store: store}).Serve(ctx, listener) })
	c, behind := dialed(b, socket), dialed(b, o.socket)
	submitAll(b, c, "physics")
	q := o.open(b)
	b.Cleanup(func() { q.Close() })
	benefit, err := frontback.Builtin().New("fixed", frontback.Parameters{})
	if err != nil {
		b.Fatal(err)
	}
	options := bridge.Options{
		Client: c, QS: q, System: "other", Name: "other", Dir: filepath.Join(dir, "bridge"),
		Groups: &bridge.Groups{
			Settings: frontback.Settings{
				Groups: []frontback.Group{{Name: "physics", Weight: 1}}, Benefit: benefit, AtStart: true,
			},
		},
	}
	b.ResetTimer()
	bridging, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- bridge.Run(bridging, options) }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for there := int64(0); there < int64(b.N); <-tick.C {
		s, err := behind.Status(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		there = s.Summary.Waiting
	}
	b.StopTimer()
	end()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
