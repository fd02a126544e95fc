package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// Bench measures a store: the life of jobs in batches by one caller, and submissions of single jobs by many
// simultaneous callers. It reports jobs per second.
func Bench(b *testing.B, open Open) {
	for _, batch := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint("cycle/batch=", batch), func(b *testing.B) { benchCycle(b, open(b), batch) })
	}
	for _, clients := range []int{1, 16, 64} {
		b.Run(fmt.Sprint("submit/clients=", clients), func(b *testing.B) { benchSubmit(b, open(b), clients) })
	}
}

func benchJob(i int) *queue.Job {
	return &queue.Job{Name: "bench", User: "ann", Pool: fmt.Sprint("pool", i%10), Priority: "normal", Argv: []string{"true"}}
}

func perSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func benchCycle(b *testing.B, s queue.Store, batch int) {
	defer s.Close()
	ctx := b.Context()
	b.ResetTimer()
	for done := 0; done < b.N; done += batch {
		if err := Cycle(ctx, s, min(batch, b.N-done), benchJob); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b)
}

func benchSubmit(b *testing.B, s queue.Store, clients int) {
	defer s.Close()
	var wg sync.WaitGroup
	b.ResetTimer()
	for c := range clients {
		wg.Go(func() {
			for i := c; i < b.N; i += clients {
				if _, err := s.Submit(b.Context(), []*queue.Job{benchJob(i)}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	perSecond(b)
}
