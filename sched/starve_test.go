package sched_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestMinimumOfWhatNobodyAsksFor: a pool that is guaranteed memory, and whose tasks ask for none, is not below its
// minimum forever. With a task that asks for memory, it is.
func TestMinimumOfWhatNobodyAsksFor(t *testing.T) {
	root := share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1, Min: map[string]int64{"mem": 4}}, {Name: "b", Weight: 1}}}
	w := newWorld(t, root, 8, 1)
	w.Join("n", cluster.Amounts{"cpu": 8, "mem": 8}, w.now)
	w.submit("a", 100)
	w.submit("b", 100)
	w.step(0)
	if a, b := w.running("a"), w.running("b"); a != 4 || b != 4 {
		t.Errorf("%d and %d run, want 4 each", a, b)
	}
	for _, st := range w.d.Starts[:2] {
		w.Finish(st.Run, w.now, true)
	}
	w.Add(sched.Job{ID: 1000, Pool: w.Pool("a"), Key: w.Key(cluster.Amounts{"mem": 1}), Priority: normal, Tasks: 1}, w.now)
	before := w.running("b")
	w.step(0)
	if got := w.running("b"); got != before {
		t.Errorf("%d more of b started although a is below its minimum of what it asks for", got-before)
	}
}

// TestReturningInTurn: pools that wait for the same maximum, or for a whole node beside a pool with small tasks, take
// turns. If each was lifted to the level of the others whenever it may continue, the same pool would always go first.
func TestReturningInTurn(t *testing.T) {
	for _, what := range []string{"max", "fit"} {
		group := share.Pool{Name: "g", Weight: 100}
		if what == "max" {
			group.Max = map[string]int64{"cpu": 3}
		}
		w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{group, {Name: "small", Weight: 1}}}, 4, 1)
		if what == "fit" {
			w.SetNode(0, cluster.Down, w.now)
			w.Join("wide", cluster.Amounts{"cpu": 2}, w.now)
			w.Join("thin", cluster.Amounts{"cpu": 1}, w.now)
		}
		pools := []string{"g/x", "g/y", "g/z"}
		for i, path := range pools {
			w.Add(sched.Job{ID: int64(i + 1), Pool: w.Pool(path), Key: w.Key(cluster.Amounts{"cpu": 2}), Priority: normal, Tasks: 1000}, w.now)
		}
		started, running := map[string]int{}, []sched.Start{}
		for range 60 {
			for _, st := range w.step(0) {
				started[w.Path(st.Pool)]++
				running = append(running, st)
			}
			w.tick(time.Second)
			w.Finish(running[0].Run, w.now, true)
			running = running[1:]
			w.last = 100
		}
		for _, path := range pools {
			if started[path] < 15 {
				t.Errorf("%s: %s started %d of 60: %v", what, path, started[path], started)
			}
		}
	}
}

// TestNoPoolStarves: if work always waits in all pools, and tasks end, every pool starts something within a bound.
//
// Under fair, fairtree and deficit, take a child with the part p of the weights. It is behind all others as soon as
// these have received more service than it by their weights. Before that shows, each of n others may receive one task
// too many on each of c slots, so at most c(n+1) tasks start before the child is behind. Each such turn of a pool on
// the way takes 1/p tasks of the cluster. So the child starts a task again within (c+1)(n+1)/p^2 tasks.
func TestNoPoolStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := rapid.SampledFrom([]string{"fair", "fairtree", "deficit", "drf"})
		root := share.Pool{Policy: policies.Draw(t, "root policy")}
		bound, slots := map[string]float64{}, rapid.IntRange(1, 5).Draw(t, "slots")
		groups := rapid.IntRange(1, 3).Draw(t, "groups")
		var weights float64
		for i := range groups {
			g := share.Pool{Name: fmt.Sprint("g", i), Weight: float64(rapid.IntRange(1, 4).Draw(t, "weight")), Policy: policies.Draw(t, "policy")}
			for k := range rapid.IntRange(1, 3).Draw(t, "pools") {
				g.Pools = append(g.Pools, share.Pool{Name: fmt.Sprint("p", k), Weight: float64(rapid.IntRange(1, 4).Draw(t, "weight"))})
			}
			weights += g.Weight
			root.Pools = append(root.Pools, g)
		}
		s := starving(t, root, int64(slots))
		for _, g := range root.Pools {
			below := 0.0
			for _, p := range g.Pools {
				below += p.Weight
			}
			for _, p := range g.Pools {
				part := g.Weight / weights * p.Weight / below
				bound[g.Name+"/"+p.Name] = float64(slots+1) * float64(groups+len(g.Pools)+1) / part / part
				s.submit(g.Name+"/"+p.Name, 1<<20)
			}
		}
		since := map[string]int{}
		var running []sched.Start
		for range 400 {
			for _, st := range s.step(0) {
				running = append(running, st)
				for path := range bound {
					since[path]++
				}
				since[s.Path(st.Pool)] = 0
			}
			for path, most := range bound {
				if float64(since[path]) > most {
					t.Fatalf("%d tasks started and none of %s, at most %v", since[path], path, most)
				}
			}
			s.tick(time.Duration(rapid.IntRange(1, 9).Draw(t, "s")) * time.Second)
			i := rapid.IntRange(0, len(running)-1).Draw(t, "ends")
			s.Finish(running[i].Run, s.now, true)
			running = append(running[:i], running[i+1:]...)
		}
	})
}

func starving(t *rapid.T, root share.Pool, slots int64) *world {
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{})}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": slots}, epoch)
	return &world{Scheduler: s, now: epoch}
}
