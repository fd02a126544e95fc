package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/postgres"
)

// BenchmarkClaim measures one claim of jobs of ten pools: of free jobs, without and with alternates; of alternates
// because all claimed jobs are gone; of free jobs under a rate for each pool; and with a license while tasks hold 5,000
// units of it.
func BenchmarkClaim(b *testing.B) {
	for _, wants := range []int{1, 50, 1000} {
		for _, how := range []string{"wanted", "wanted-with-others", "others", "rates", "holds"} {
			b.Run(fmt.Sprint("wants=", wants, "/", how), func(b *testing.B) { benchClaim(b, wants, how) })
		}
	}
}

func benchClaim(b *testing.B, n int, how string) {
	const pools, others = 10, 200
	url, schema := pgtest.URL(b)
	s := at(b, url, postgres.Options{Schema: schema})
	defer s.Close()
	submit(b, s, 20_000, pools) // so that other jobs wait, too
	gone := submit(b, s, n, pools)
	lease(b, s, n, func(i int) queue.Want { return queue.Want{Job: gone[i]} })
	license := []sched.Held{{Of: "license matlab", Amount: 1, Max: 1_000_000}}
	if how == "holds" {
		held := submit(b, s, 5000, pools)
		lease(b, s, len(held), func(i int) queue.Want { return queue.Want{Job: held[i], Holds: license} })
	}
	for b.Loop() {
		b.StopTimer()
		ids := submit(b, s, n, pools)
		lists := make([][]int64, pools)
		for i, id := range append(ids, submit(b, s, others*pools-n, pools)...) {
			if how == "others" || i >= n {
				lists[i%pools] = append(lists[i%pools], id)
			}
		}
		b.StartTimer()
		lease(b, s, n, func(i int) (w queue.Want) {
			if w.Job = ids[i]; how == "others" {
				w.Job = gone[i]
			}
			switch how {
			case "wanted-with-others", "others":
				w.Else = lists[i%pools]
			case "rates":
				w.Rates = []sched.RateLimit{{Name: fmt.Sprint("rate", i%pools), Limit: sched.Rate{Count: 1e9, Per: time.Second}}}
			case "holds":
				w.Holds = license
			}
			return w
		})
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "leases/s")
}

// lease leases n free jobs in one call.
func lease(b *testing.B, s queue.Store, n int, want func(i int) queue.Want) {
	wants := make([]queue.Want, n)
	for i := range wants {
		wants[i] = want(i)
	}
	grants, err := s.Lease(b.Context(), "h", wants, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	for i, g := range grants {
		if g.Lease == nil {
			b.Fatalf("want %d of %d was lost", i, n)
		}
	}
}
