package history_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// TestPastShares: past shares are the shares that were current at the time. Each moment is weighted with the usage of
// all pools, also for a pool that was idle when the shares changed.
func TestPastShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zero := time.Now().Truncate(time.Hour).Add(time.Hour)
		time.Sleep(time.Until(zero))
		weigh := func(a, b float64) fairlead.Shares {
			s := fairlead.DefaultShares()
			s.Sched.Root = share.Pool{Policy: "fair", Pools: []share.Pool{
				{Name: "a", Weight: a, Pools: []share.Pool{{Name: "x", Weight: 1}, {Name: "y", Weight: 3}}},
				{Name: "b", Weight: b},
			}}
			return s
		}
		loop, rc, stop := recorded(t, memory.New("cpu"), engine.LoopOptions{Shares: weigh(3, 1)}, 4,
			func(_ context.Context, l *fairlead.Lease) error {
				time.Sleep(l.Job.Limit)
				return nil
			})
		defer stop()
		// One of four slots is used for an hour, with shares of 75 and 25; then three for an hour, with 50 and 50,
		// while b has no work.
		run := func(pool string, n int, d time.Duration) {
			for range n {
				enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: pool, Limit: d})
			}
			time.Sleep(d)
		}
		run("b", 1, time.Hour)
		if err := loop.Configure(t.Context(), weigh(1, 1)); err != nil {
			t.Fatal(err)
		}
		run("a/x", 3, time.Hour)
		got, err := rc.PastShares(t.Context(), []string{"a", "b", "a/x", "a/y", "nobody", ""}, zero,
			zero.Add(2*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		a := (1*0.75 + 3*0.5) / 4
		for i, want := range []float64{a, 1 - a, a / 4, a * 3 / 4, -1, 1} {
			if math.Abs(got[i]-want) > 0.002 {
				t.Errorf("pool %d: %v, want %v", i, got[i], want)
			}
		}
		if got, err = rc.PastShares(t.Context(), []string{"a"}, zero.Add(-2*time.Hour),
			zero.Add(-time.Hour)); err != nil || got[0] != -1 {
			t.Errorf("before there was a server: %v, %v", got, err)
		}
	})
}
