package sched_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

var levelPools = []string{"a", "b", "g/c", "g/d"}

// leveled is a world of one slot under fair in which usage decays.
func leveled(t testing.TB, at time.Time, half time.Duration) *world {
	t.Helper()
	s, err := sched.New(sched.Config{
		Root:      share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 2}, {Name: "b", Weight: 1}}},
		NewPolicy: policy.New(policy.Options{}), HalfLife: half,
	}, at, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 1}, at)
	for _, pool := range levelPools {
		s.Pool(pool) // of equal pools the oldest goes first
	}
	return &world{Scheduler: s, t: t, now: at}
}

// serve runs tasks one after the other, and returns their pools.
func (w *world) serve(tasks int, length time.Duration) (pools []string) {
	for range tasks {
		starts := w.step(1)
		pools = append(pools, w.paths(starts)...)
		w.tick(length)
		for _, s := range starts {
			w.Finish(s.Run, w.now, true)
		}
	}
	return pools
}

// again returns a world that takes the place of another one, with the usage and the jobs that the store knows.
func (w *world) again(t testing.TB, waiting map[string]int, half time.Duration) *world {
	next := leveled(t, w.now, half)
	w.Advance(w.now)
	now := w.Read().Now()
	for _, pool := range levelPools {
		p := w.View(w.Pool(pool))
		next.Memory().Restore(next.Pool(pool), p.Service(now)/now.Growth, p.Mean, p.Seen/now.Growth)
	}
	for _, pool := range levelPools {
		if waiting[pool] > 0 {
			next.submit(pool, waiting[pool])
		}
	}
	return next
}

// TestLevelsGoOn: a scheduler that takes the place of another one serves the waiting pools in the same order if it
// receives their levels. The pools keep the claims that they built up by waiting.
func TestLevelsGoOn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		half := rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(rt, "half-life")
		w, waiting := leveled(t, epoch, half), map[string]int{}
		for range rapid.IntRange(1, 15).Draw(rt, "events") {
			pool := rapid.SampledFrom(levelPools).Draw(rt, "pool")
			n := rapid.IntRange(1, 5).Draw(rt, "tasks")
			w.submit(pool, n)
			waiting[pool] += n
			length := time.Duration(rapid.IntRange(1, 900).Draw(rt, "length")) * time.Second
			for _, pool := range w.serve(rapid.IntRange(0, 6).Draw(rt, "served"), length) {
				waiting[pool]--
			}
		}
		w.Advance(w.now)
		levels := w.Memory().Levels()
		next := w.again(t, waiting, half)
		next.Memory().Know(levels, next.now)
		if got, want := next.serve(12, time.Minute), w.serve(12, time.Minute); !slices.Equal(got, want) {
			rt.Fatalf("served %v, and %v without a restart", got, want)
		}
	})
}

// TestLevelsOfThoseWhoCome: a pool whose jobs came after the levels were noted has no claim for its absence, and a
// weight that changed meanwhile changes no claim.
func TestLevelsOfThoseWhoCome(t *testing.T) {
	w := leveled(t, epoch, 0)
	w.submit("b", 20)
	w.submit("g/c", 40)
	w.serve(1, 10*time.Minute)
	w.Advance(w.now)
	levels := w.Memory().Levels()
	next := w.again(t, map[string]int{"b": 19, "g/c": 40, "a": 40}, 0)
	cfg := next.Read().Config()
	cfg.Root.Pools = slices.Clone(cfg.Root.Pools)
	cfg.Root.Pools[1].Weight = 2
	if err := next.Configure(cfg, next.now); err != nil {
		t.Fatal(err)
	}
	next.Memory().Know(levels, next.now)
	served := map[string]int{}
	for _, pool := range next.serve(15, time.Minute) {
		served[pool]++
	}
	// b had ten minutes at the weight 1, and waits until the others have had as much.
	if served["b"] != 0 || served["a"] != 10 || served["g/c"] != 5 {
		t.Errorf("served %v", served)
	}
}
