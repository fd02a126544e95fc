package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// balanced returns a tree of two classes with one half each that are rebalanced after a minute; "change" may change it.
func balanced(change func(*share.Pool)) share.Pool {
	root := share.Pool{
		Policy: "load", Options: share.Options{Rebalance: share.Rebalance{Threshold: 20, MinDuration: time.Minute}},
		Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}},
	}
	change(&root)
	return root
}

// rebalance plays an hour in which pool a runs on all ten slots when jobs of b come. Stopped tasks end at once. It
// returns the stops.
func rebalance(t *testing.T, root share.Pool, fill, come func(*story), nodes ...int64) (*story, []sched.Stop) {
	s := newStory(t, reclaimConfig(root, sched.Cheapest), nodes...)
	fill(s)
	s.decide()
	s.now = s.now.Add(time.Second)
	come(s)
	var all []sched.Stop
	for end := epoch.Add(time.Hour); s.now.Before(end); s.now = s.now.Add(10 * time.Second) {
		s.decide()
		all = append(all, s.stops...)
		if len(s.stops) > 0 {
			s.carryOut()
			s.decide()
		}
	}
	return s, all
}

// TestRebalanceStopsWhatCanBeUsed: nothing is stopped for a class that may not have the room or cannot use it. No class
// falls below a minimum or loses protected tasks.
func TestRebalanceStopsWhatCanBeUsed(t *testing.T) {
	ten := func(s *story) { s.add("a", 10, 1) }
	five := func(s *story) { s.add("b", 5, 1) }
	gpus := func(s *story) {
		s.Join("n1", cluster.Amounts{"cpu": 10, "gpu": 2}, s.now)
		s.add("b", 5, 1, func(j *sched.Job) { j.Key = s.Key(cluster.Amounts{"cpu": 1, "gpu": 1}) })
	}
	for _, c := range []struct {
		name       string
		change     func(*share.Pool)
		fill, come func(*story)
		nodes      []int64
		stops      int
		runs       [2]float64 // running tasks of a and b in the end
	}{
		{"half", func(*share.Pool) {}, ten, five, []int64{10}, 5, [2]float64{5, 5}},
		{"max", func(p *share.Pool) { p.Pools[1].Max = map[string]int64{"cpu": 2} }, ten, five, []int64{10}, 2, [2]float64{8, 2}},
		{"max_running", func(p *share.Pool) { p.Pools[1].MaxRunning = 3 }, ten, five, []int64{10}, 3, [2]float64{7, 3}},
		{"max further down", func(p *share.Pool) {
			p.Pools[1].Pools = []share.Pool{{Name: "x", Weight: 1, Max: map[string]int64{"cpu": 1}}}
		}, ten, func(s *story) { s.add("b/x", 5, 1) }, []int64{10}, 1, [2]float64{9, 1}},
		{"max of another resource", func(p *share.Pool) { p.Pools[1].Max = map[string]int64{"gpu": 1} }, ten, gpus, []int64{10}, 1, [2]float64{9, 1}},
		{"another resource", func(*share.Pool) {}, ten, gpus, []int64{10}, 2, [2]float64{8, 2}},
		{"min", func(p *share.Pool) { p.Pools[0].Min = map[string]int64{"cpu": 8} }, ten, five, []int64{10}, 2, [2]float64{8, 2}},
		{"min further down", func(p *share.Pool) {
			p.Pools[0].Pools = []share.Pool{{Name: "x", Weight: 1, Min: map[string]int64{"cpu": 7}}}
		}, func(s *story) { s.add("a/x", 10, 1) }, five, []int64{10}, 3, [2]float64{7, 3}},
		{"protect", func(p *share.Pool) { p.Pools[0].Reclaim.Protect = true }, ten, five, []int64{10}, 0, [2]float64{10, 0}},
		{"protect all", func(p *share.Pool) { p.Reclaim.Protect = true }, ten, five, []int64{10}, 0, [2]float64{10, 0}},
		{"protect one further down", func(p *share.Pool) {
			p.Pools[0].Pools = []share.Pool{{Name: "x", Weight: 1, Reclaim: share.Reclaim{Protect: true}}, {Name: "y", Weight: 1}}
		}, func(s *story) { s.add("a/x", 7, 1); s.add("a/y", 3, 1) }, five, []int64{10}, 3, [2]float64{7, 3}},
		{"wide", func(*share.Pool) {}, ten, func(s *story) { s.add("b", 5, 2) }, []int64{10}, 4, [2]float64{6, 4}},
		{"too wide for a node", func(*share.Pool) {}, ten, func(s *story) { s.add("b", 5, 3) }, []int64{2, 2, 2, 2, 2}, 0, [2]float64{10, 0}},
		{"a gang as a whole", func(*share.Pool) {}, func(s *story) { s.add("a", 4, 1, s.gang); s.add("a", 6, 1, s.gang) }, five, []int64{10}, 4, [2]float64{6, 4}},
		{"for a gang", func(*share.Pool) {}, ten, func(s *story) { s.add("b", 4, 1, s.gang) }, []int64{5, 5}, 4, [2]float64{6, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, stops := rebalance(t, balanced(c.change), c.fill, c.come, c.nodes...)
			runs := [2]float64{s.View(s.mustPool("a")).Running, s.View(s.mustPool("b")).Running}
			if len(stops) != c.stops || runs != c.runs {
				t.Errorf("%d stops, want %d; a and b run %v, want %v\n%s", len(stops), c.stops, runs, c.runs, s.text.String())
			}
		})
	}
}

// mustPool returns the number of a pool that exists, also of inner pools.
func (s *story) mustPool(path string) sched.PoolID {
	id, ok := s.Lookup(path)
	if !ok {
		s.t.Fatal("no pool", path)
	}
	return id
}

// TestRebalanceGivesToWhomItIsFor: the room goes to the class for which it was made, even if the class that gave it has
// the larger load, and even if that class starts a narrow task in the rest of it.
func TestRebalanceGivesToWhomItIsFor(t *testing.T) {
	for _, rounding := range []string{"exact", "scoot"} {
		s, stops := rebalance(t, balanced(func(p *share.Pool) {
			p.Options.Rounding, p.Pools[0].Weight, p.Pools[1].Weight = rounding, 60, 40
		}), func(s *story) {
			s.add("a", 6, 1)
			s.decide()
			s.now = s.now.Add(time.Second)
			s.add("a", 1, 4)
			s.decide()
			s.add("a", 3, 3)
			s.add("a", 1, 1)
		}, func(s *story) { s.add("b", 2, 3) }, 10)
		runs := [2]float64{s.View(s.mustPool("a")).Running, s.View(s.mustPool("b")).Running}
		if len(stops) != 1 || runs != [2]float64{7, 3} {
			t.Errorf("%s: %d stops, a and b run %v, want one, and 7 and 3\n%s", rounding, len(stops), runs, s.text.String())
		}
	}
}

// TestRebalanceOthersFirst: below a pool that is above its own part nothing is stopped, because the room would go to a
// sibling of that pool.
func TestRebalanceOthersFirst(t *testing.T) {
	below := balanced(func(p *share.Pool) { p.Name, p.Weight = "x", 1 })
	root := share.Pool{Policy: "fair", Pools: []share.Pool{below, {Name: "y", Weight: 1}}}
	_, stops := rebalance(t, root, func(s *story) { s.add("x/a", 10, 1) }, func(s *story) {
		s.add("x/b", 5, 1)
		s.add("y", 50, 1)
	}, 10)
	if len(stops) > 0 {
		t.Errorf("%d stops", len(stops))
	}
}

// TestRebalanceBelowAMaximum: the children of a pool at its maximum are brought to their loads, too. No other pool
// loses tasks, and free slots elsewhere do not help.
func TestRebalanceBelowAMaximum(t *testing.T) {
	for _, limit := range []func(*share.Pool){
		func(p *share.Pool) { p.Max = map[string]int64{"cpu": 10} },
		func(p *share.Pool) { p.MaxRunning = 10 },
	} {
		below := balanced(func(p *share.Pool) { p.Name, p.Weight = "x", 1 })
		limit(&below)
		root := share.Pool{Policy: "fair", Pools: []share.Pool{below, {Name: "y", Weight: 1}}}
		s, stops := rebalance(t, root, func(s *story) {
			s.add("x/a", 14, 1)
			s.add("y", 5, 1)
		}, func(s *story) { s.add("x/b", 8, 1) }, 20)
		var runs [3]float64
		for i, path := range []string{"x/a", "x/b", "y"} {
			runs[i] = s.View(s.mustPool(path)).Running
		}
		if len(stops) != 5 || runs != [3]float64{5, 5, 5} {
			t.Errorf("%d stops, want 5; a, b and y run %v, want 5 each\n%s", len(stops), runs, s.text.String())
		}
	}
}

// TestRebalanceNewest: the newest tasks are stopped, even if reclaim chooses others.
func TestRebalanceNewest(t *testing.T) {
	s, stops := rebalance(t, balanced(func(*share.Pool) {}), func(s *story) {
		for range 10 { // the younger tasks are wider, so that the oldest ones would be the cheapest
			s.add("a", 1, 1)
			s.decide()
			s.now = s.now.Add(time.Second)
		}
	}, func(s *story) { s.add("b", 5, 1) }, 10)
	if len(stops) != 5 {
		t.Fatalf("%d stops\n%s", len(stops), s.text.String())
	}
	for i, x := range stops {
		if want := int64(10 - i); x.Job != want {
			t.Errorf("stop %d is of job %d, want %d", i, x.Job, want)
		}
	}
}

// TestRebalanceGrace: a job with stopped tasks is safe for the grace period, also
// when its class is far above its target again.
func TestRebalanceGrace(t *testing.T) {
	s, stops := rebalance(t, balanced(func(*share.Pool) {}), func(s *story) { s.add("a", 10, 1) }, func(s *story) {
		s.add("b", 2, 1)
		s.add("b", 3, 1, func(j *sched.Job) { j.Begin = epoch.Add(3 * time.Minute) })
	}, 10)
	if len(stops) != 5 {
		t.Fatalf("%d stops\n%s", len(stops), s.text.String())
	}
	first := stops[0].Safe.Add(-30 * time.Minute)
	for i, x := range stops {
		at := x.Safe.Add(-30 * time.Minute)
		if i < 2 && !at.Equal(first) || i >= 2 && (at.Before(stops[0].Safe) || at.After(stops[0].Safe.Add(2*time.Minute))) {
			t.Errorf("stop %d is at %s", i, at.Sub(epoch))
		}
	}
}

// TestRebalanceWakes: if nothing happens to a scheduler, it still says when a grace period that kept tasks from being
// stopped may be over.
func TestRebalanceWakes(t *testing.T) {
	s := newStory(t, reclaimConfig(balanced(func(*share.Pool) {}), sched.Newest), 10)
	s.add("a", 10, 1)
	s.decide()
	s.now = s.now.Add(time.Second)
	s.Memory().Protect(1, epoch.Add(40*time.Minute))
	s.add("b", 5, 1)
	s.until(50 * time.Minute)
	if len(s.stops) != 5 {
		t.Errorf("%d stops\n%s", len(s.stops), s.text.String())
	}
}
