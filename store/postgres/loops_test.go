package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/storetest"
)

// gauge records the largest number of tasks that run at once, and when they started.
type gauge struct {
	mu        sync.Mutex
	now, peak int
	at        []time.Time
	all       *sync.WaitGroup
	work      func(context.Context) error
}

func (g *gauge) Handle(ctx context.Context, l *queue.Lease) error {
	defer g.all.Done()
	g.mu.Lock()
	g.now++
	g.peak = max(g.peak, g.now)
	g.at = append(g.at, l.Started)
	g.mu.Unlock()
	err := g.work(ctx)
	g.mu.Lock()
	g.now--
	g.mu.Unlock()
	return err
}

// TestLimitsOverLoops: a rate, a license and the maximum of a pool hold across four servers that all have room for
// every task, and every task is done.
func TestLimitsOverLoops(t *testing.T) {
	const jobs = 40
	stores, _, _ := several(t, 4)
	parsed, err := config.Parse("shares.yaml", []byte(`
rates: {web: {rate: 40/s, burst: 5, kinds: [crawl]}}
licenses: {matlab: 3}
pools: {cleo: {max_running: 2}}
placement: [{pool: "{user}"}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var left sync.WaitGroup
	left.Add(3 * jobs)
	kinds := map[string]*gauge{}
	handlers := map[string]engine.Handler{}
	for _, kind := range []string{"crawl", "fit", "mail"} {
		kinds[kind] = &gauge{all: &left, work: func(ctx context.Context) error { _, err := stores[0].Settings(ctx); return err }}
		handlers[kind] = kinds[kind]
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i, s := range stores {
		loop, err := engine.NewLoop(ctx, s, engine.LoopOptions{Shares: parsed.Shares})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			_, err := loop.Client().Submit(ctx, queue.Job{User: "ann", Kind: "crawl", Array: fmt.Sprint("1-", jobs)})
			for range jobs {
				if err == nil {
					_, err = loop.Client().Submit(ctx, queue.Job{User: "bob", Kind: "fit", Licenses: queue.Amounts{"matlab": 1}},
						queue.Job{User: "cleo", Kind: "mail"})
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		running.Go(func() { loop.Run(ctx) })
		running.Go(func() {
			loop.Work(ctx, engine.WorkOptions{Name: fmt.Sprint("n", i), Slots: 20, Handlers: handlers})
		})
	}
	left.Wait()
	cancel()
	running.Wait()
	storetest.InRate(t, kinds["crawl"].at, sched.Rate{Count: 40, Per: time.Second, Burst: 5})
	for kind, most := range map[string]int{"fit": 3, "mail": 2} {
		if peak := kinds[kind].peak; peak > most {
			t.Errorf("%d tasks of %s ran at once, want at most %d", peak, kind, most)
		}
		if n := len(kinds[kind].at); n != jobs {
			t.Errorf("%d tasks of %s started, want %d", n, kind, jobs)
		}
	}
	if got := fmt.Sprint(counters(t, stores[0])); got != "{0 0}" {
		t.Errorf("the counters are %s at the end", got)
	}
}
