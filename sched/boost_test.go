package sched_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

func two() share.Pool {
	return share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}
}

func (w *world) weight(pool string) float64 {
	w.t.Helper()
	id, there := w.Lookup(pool)
	if !there {
		w.t.Fatalf("no pool %s", pool)
	}
	return w.View(id).Weight
}

// TestBoostCounts: while a boost lasts, its pool receives service by the boosted weight, and afterwards by its own
// weight. The step says when the boost ends.
func TestBoostCounts(t *testing.T) {
	w := newWorld(t, two(), 1, 1)
	w.submit("a", 10_000)
	w.submit("b", 10_000)
	until := w.now.Add(1000 * time.Second)
	w.Boost(sched.Boost{ID: 1, Pool: "a", Factor: 3, Until: until}, w.now)
	if w.Step(w.now, 1, &w.d); !w.d.Next.Equal(until) {
		t.Errorf("next %v, want %v", w.d.Next, until)
	}
	w.Abort(w.d.Starts[0].Run, w.now, true)
	if n := w.rounds(100)["a"]; n < 74 || n > 76 {
		t.Errorf("boosted three times: %d of 100", n)
	}
	if w.weight("a") != 1 || len(w.Read().Boosts()) != 0 || len(w.EndedBoosts()) != 1 {
		t.Errorf("weight %v after its end", w.weight("a"))
	}
	if n := w.rounds(100)["a"]; n < 49 || n > 51 {
		t.Errorf("after its end: %d of 100", n)
	}
}

// TestBoostEndsByUsage: a boost that is limited by usage ends at the exact instant, even if the running tasks change
// meanwhile.
func TestBoostEndsByUsage(t *testing.T) {
	w := newWorld(t, two(), 4, 1)
	w.submit("a", 2)
	w.Boost(sched.Boost{ID: 7, Pool: "a", Factor: 2, Usage: 7200}, w.now)
	run := w.step(0) // two slots
	if want := w.now.Add(time.Hour); !w.d.Next.Equal(want) {
		t.Errorf("next %v, want %v", w.d.Next, want)
	}
	w.tick(30 * time.Minute)
	w.Finish(run[0].Run, w.now, true)
	if got := w.Read().Boosts()[0].Had; got != 3600 {
		t.Errorf("had %v, want 3600", got)
	}
	want := w.now.Add(time.Hour)
	if w.Step(w.now, 0, &w.d); !w.d.Next.Equal(want) {
		t.Errorf("next %v, want %v", w.d.Next, want)
	}
	w.Advance(want.Add(-1))
	if w.weight("a") != 2 {
		t.Error("it ended early")
	}
	if w.Advance(want); w.weight("a") != 1 {
		t.Error("it did not end")
	}
}

// TestBoostNoticedLate: keys are the same whether or not somebody looked at the moment when the boost ended.
func TestBoostNoticedLate(t *testing.T) {
	make := func() *world {
		w := newWorld(t, two(), 4, 1)
		w.submit("a", 9)
		w.submit("b", 9)
		w.Boost(sched.Boost{ID: 1, Pool: "a", Factor: 5, Until: w.now.Add(time.Hour)}, w.now)
		w.step(0)
		return w
	}
	on, late := make(), make()
	on.Advance(epoch.Add(time.Hour))
	on.Advance(epoch.Add(3 * time.Hour))
	late.Advance(epoch.Add(3 * time.Hour))
	fair := policy.New(policy.Options{})("fair", share.Options{}).(sched.Keyed)
	for _, pool := range []string{"a", "b"} {
		id, _ := on.Lookup(pool)
		x := fair.Terms(on.View(id), sched.Setting{Now: on.Read().Now()})
		y := fair.Terms(late.View(id), sched.Setting{Now: late.Read().Now()})
		if x.Key != y.Key {
			t.Errorf("%s: key %v, and %v when it is noticed late", pool, x.Key, y.Key)
		}
	}
}

// TestBoostsMultiply: boosts multiply, wait for their pool, and can be taken back.
func TestBoostsMultiply(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 1, 1)
	w.Boost(sched.Boost{ID: 1, Pool: "a/x", Factor: 2, Until: w.now.Add(time.Hour)}, w.now)
	w.Boost(sched.Boost{ID: 2, Pool: "a/x", Factor: 1.5}, w.now)
	w.submit("a/x", 1)
	if got := w.weight("a/x"); got != 3 {
		t.Errorf("weight %v, want 1 x 2 x 1.5", got)
	}
	f := w.Fork()
	if !w.Unboost(2, w.now) || w.Unboost(2, w.now) || w.weight("a/x") != 2 {
		t.Errorf("weight %v without the second", w.weight("a/x"))
	}
	id, _ := f.Lookup("a/x")
	if f.View(id).Weight != 3 {
		t.Error("a fork changed with its original")
	}
	w.reload(share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1, Pools: []share.Pool{{Name: "x", Weight: 10}}}}})
	if got := w.weight("a/x"); got != 20 || w.Read().BaseWeight(id) != 10 {
		t.Errorf("weight %v under a new configuration, want 10 x 2", got)
	}
}

// TestStarter: a new pool begins with more weight, until a time has passed or an amount is used. A new scheduler
// continues the starter boost where the old one was.
func TestStarter(t *testing.T) {
	root := share.Pool{Policy: "fair", Starter: share.Starter{Weight: 4, For: 24 * time.Hour, Usage: 3600},
		Pools: []share.Pool{{Name: "staff", Weight: 1}}}
	w := newWorld(t, root, 2, 1)
	w.submit("staff", 1)
	w.submit("ann", 1)
	w.tick(time.Hour)
	w.submit("bob", 1)
	if w.weight("staff") != 1 || w.weight("ann") != 4 || w.weight("bob") != 4 {
		t.Error("only new pools have a starter")
	}
	w.Step(w.now, 0, &w.d)
	if want := w.now.Add(time.Hour); !w.d.Next.Equal(want) { // by the usage of one running task
		t.Errorf("next %v, want %v", w.d.Next, want)
	}
	w.tick(time.Hour)
	w.Advance(w.now)
	used := []string{}
	for _, p := range []string{"ann", "bob"} {
		if w.weight(p) == 1 {
			used = append(used, p)
		}
	}
	if len(used) == 0 {
		t.Error("none ended")
	}
	w.reload(root)
	for _, p := range used {
		if w.weight(p) != 1 {
			t.Errorf("the starter of %s began again with a new configuration", p)
		}
	}
	again := newWorld(t, root, 2, 1)
	for _, p := range []string{"ann", "bob", "eve"} {
		again.Pool(p)
	}
	again.Memory().Know([]sched.Known{
		{Pool: "ann", First: epoch.Add(-time.Hour), Had: 100},
		{Pool: "bob", First: epoch.Add(-24 * time.Hour)},
		{Pool: "eve", First: epoch.Add(-time.Hour), Had: 3600},
	}, epoch)
	if again.weight("ann") != 4 || again.weight("bob") != 1 || again.weight("eve") != 1 {
		t.Errorf("weights %v %v %v, want 4 1 1", again.weight("ann"), again.weight("bob"), again.weight("eve"))
	}
	if again.Advance(epoch.Add(23 * time.Hour)); again.weight("ann") != 1 {
		t.Error("a day after the pool came its starter is not over")
	}
}

// TestBoostsLeaveNothing: whatever happens meanwhile, when all boosts have ended, the weights equal those of a fresh
// configuration, and the orders equal orders that are computed from scratch.
func TestBoostsLeaveNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		weight := rapid.Float64Range(1e-3, 1e3)
		root := share.Pool{Policy: rapid.SampledFrom([]string{"fair", "lottery", "fifo", "decay", "drf", "fairtree", "load"}).Draw(rt, "policy")}
		pools := []string{"a", "b/x", "b/y", "c"}
		root.Pools = []share.Pool{{Name: "a", Weight: weight.Draw(rt, "a")}, {Name: "b", Weight: weight.Draw(rt, "b"),
			Pools: []share.Pool{{Name: "x", Weight: weight.Draw(rt, "x")}, {Name: "y", Weight: weight.Draw(rt, "y")}}}}
		w := newWorld(t, root, 4, 1)
		var runs []sched.RunID
		for i := range rapid.IntRange(1, 60).Draw(rt, "events") {
			pool := rapid.SampledFrom(pools).Draw(rt, "pool")
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				w.submit(pool, rapid.IntRange(1, 3).Draw(rt, "tasks"))
			case 1:
				b := sched.Boost{ID: int64(i + 1), Pool: rapid.SampledFrom([]string{"a", "b", "b/x", "c"}).Draw(rt, "boosted"), Factor: rapid.Float64Range(0.01, 100).Draw(rt, "factor")}
				b.Until = w.now.Add(time.Duration(rapid.IntRange(1, 1000).Draw(rt, "for")) * time.Second)
				b.Usage = float64(rapid.IntRange(0, 1000).Draw(rt, "usage"))
				w.Boost(b, w.now)
			case 2:
				w.tick(time.Duration(rapid.IntRange(1, 300).Draw(rt, "seconds")) * time.Second)
				w.Advance(w.now)
			case 3:
				for _, s := range w.step(1) {
					runs = append(runs, s.Run)
				}
			case 4:
				if len(runs) > 0 {
					w.Finish(runs[0], w.now, true)
					runs = runs[1:]
				}
			case 5:
				w.reload(root)
			}
			if err := w.Check(); err != nil {
				rt.Fatal(err)
			}
		}
		w.tick(time.Hour)
		w.Advance(w.now)
		fresh := newWorld(t, root, 4, 1)
		for id := range w.Read().Pools() {
			path := w.Path(sched.PoolID(id))
			if other, there := fresh.Lookup(path); there && w.View(sched.PoolID(id)).Weight != fresh.View(other).Weight {
				rt.Fatalf("%s has the weight %v, fresh %v", path, w.View(sched.PoolID(id)).Weight, fresh.View(other).Weight)
			}
		}
		if len(w.Read().Boosts()) != 0 {
			rt.Fatalf("left: %+v", w.Read().Boosts())
		}
	})
}

// TestUsageOfBoostIsExact: the usage that a boost counts is the service that its pool received, as a sum over the
// tasks.
func TestUsageOfBoostIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, two(), 8, 1)
		w.Boost(sched.Boost{ID: 1, Pool: "a", Factor: 2, Usage: 1e9}, w.now)
		w.submit("a", 100)
		began := map[sched.RunID]time.Time{}
		var runs []sched.RunID
		ended := 0.0
		for range rapid.IntRange(1, 40).Draw(rt, "events") {
			for _, s := range w.step(rapid.IntRange(1, 3).Draw(rt, "start")) {
				runs, began[s.Run] = append(runs, s.Run), w.now
			}
			w.tick(time.Duration(rapid.IntRange(0, 100).Draw(rt, "seconds")) * time.Second)
			if len(runs) > 0 && rapid.Bool().Draw(rt, "end") {
				if rapid.Bool().Draw(rt, "abort") {
					w.Abort(runs[0], w.now, true)
				} else {
					ended += w.now.Sub(began[runs[0]]).Seconds()
					w.Finish(runs[0], w.now, true)
				}
				runs = runs[1:]
			}
			want := ended
			for _, r := range runs {
				want += w.now.Sub(began[r]).Seconds()
			}
			w.Advance(w.now)
			if got := w.Read().Boosts()[0].Had; math.Abs(got-want) > 1e-6 {
				rt.Fatalf("it counts %v, the tasks had %v", got, want)
			}
		}
	})
}

func TestBoostOfNothing(t *testing.T) {
	s, err := sched.New(sched.Config{Root: two(), NewPolicy: policy.New(policy.Options{})}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": 1}, epoch)
	s.Boost(sched.Boost{ID: 1, Pool: "a", Factor: 2, Until: epoch}, epoch)
	s.Boost(sched.Boost{ID: 2, Pool: "a", Factor: 2, Usage: 5, Had: 5}, epoch)
	if len(s.Read().Boosts()) != 0 {
		t.Errorf("boosts that are over count: %+v", s.Read().Boosts())
	}
	for _, f := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-4, 1e4} {
		if sched.CheckFactor(f) == nil {
			t.Errorf("factor %v is taken", f)
		}
	}
}
