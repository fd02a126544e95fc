package postgres_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/postgres"
	"github.com/fairlead/fairlead/store/storetest"
)

// openPooled opens a store behind a PgBouncer in transaction mode, in the virtual time of a test.
func openPooled(t testing.TB) queue.Store {
	t.Helper()
	url, schema, _ := pgtest.Pooled(t)
	return at(t, url+inVirtualTime, postgres.Options{Schema: schema, Now: time.Now})
}

func TestTwinBehindPooler(t *testing.T) {
	storetest.Twins(t, func(testing.TB) queue.Store { return memory.New("cpu") }, openPooled, seeds(2))
}

// TestPoolerIsNoticed: a server behind a pooler learns of changes by other servers by polling or, if it knows the
// address of the database itself, from notifications. The log names the missing address once.
func TestPoolerIsNoticed(t *testing.T) {
	t.Parallel()
	url, schema, direct := pgtest.Pooled(t)
	for _, d := range []string{"", direct} {
		var log bytes.Buffer
		first := at(t, url, postgres.Options{Schema: schema, Direct: d, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		defer first.Close()
		second := at(t, url+"&schema="+schema+"&direct="+d, postgres.Options{})
		defer second.Close()
		if n := strings.Count(log.String(), "direct=HOST:PORT"); (n == 1) != (d == "") || n > 1 {
			t.Errorf("direct=%q: the log says %q", d, log.String())
		}
		c := make(chan struct{}, 1)
		defer first.Notify(c)()
		f := follow(first)
		id := submit(t, second, 1, 1)[0]
		for deadline := time.After(await.Patience); f.seen[queue.Waited][id] == 0; f.read(t) {
			select {
			case <-c:
			case <-deadline:
				t.Fatalf("direct=%q: not woken", d)
			}
		}
	}
}

// TestServersBehindPooler lets stores with more connections than the pooler has submit, lease and
// finish the same jobs at once.
func TestServersBehindPooler(t *testing.T) {
	t.Parallel()
	url, schema, _ := pgtest.Pooled(t)
	var stores []*postgres.Store
	for range 3 {
		s := at(t, url+"&pool_max_conns=12", postgres.Options{Schema: schema, Timeout: 20 * time.Second})
		defer s.Close()
		stores = append(stores, s)
	}
	var mu sync.Mutex
	runs := map[int64]int{}
	const rounds, batch = 8, 20
	for range rounds {
		ids := submit(t, stores[0], batch, 3)
		var wg sync.WaitGroup
		for i := range 4 * len(stores) {
			wg.Go(func() {
				won := raceFor(t, stores[i%len(stores)], ids)
				submitted := &queue.Job{Kind: "k", User: "ann", Pool: "one", Tasks: 1, Key: "once"}
				if _, err := stores[i%len(stores)].Submit(context.Background(), []*queue.Job{submitted}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, id := range won {
					runs[id]++
				}
			})
		}
		wg.Wait()
	}
	for id, n := range runs {
		if n != 1 {
			t.Errorf("job %d ran %d times", id, n)
		}
	}
	if len(runs) != rounds*batch {
		t.Errorf("%d jobs ran, want %d", len(runs), rounds*batch)
	}
}
