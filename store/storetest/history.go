package storetest

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// keeper returns the store's history, or skips the case.
func (s *suite) keeper() queue.HistoryKeeper {
	k, is := s.Store.(queue.HistoryKeeper)
	if !is {
		s.t.Skip("the store keeps no history")
	}
	return k
}

// step returns a whole step of a level in which a pool ran the given units.
func step(level int, at time.Time, running float64) queue.HistoryStep {
	x := queue.HistoryLevels[level].Step.Seconds()
	return queue.HistoryStep{At: at, Seconds: x, Share: 0.5 * x, Used: 0.25 * x, FairNow: 2 * x, Running: running * x, Demand: 3 * x, Waiting: 7 * x, OldestWait: 90}
}

func (s *suite) history(level int, from, to time.Time, pools ...string) []queue.PoolHistory {
	s.t.Helper()
	got, err := s.keeper().PoolHistory(s.ctx, queue.HistoryQuery{Pools: pools, Level: level, From: from, To: to})
	s.must(err)
	return got
}

// historyIsKept writes three levels of two pools over several blocks, with a gap, and reads
// parts of it.
func historyIsKept(s *suite) {
	k := s.keeper()
	now := time.Now().Truncate(time.Hour)
	var all []queue.PoolHistory
	for level, l := range queue.HistoryLevels {
		for i, pool := range []string{"", "physics/ann"} {
			h := queue.PoolHistory{Pool: pool, Level: level}
			for n := 400; n > 0; n-- {
				if n > 100 && n < 150 {
					continue
				}
				h.Steps = append(h.Steps, step(level, now.Add(-time.Duration(n)*l.Step), float64(i)+float64(n)/20))
			}
			all = append(all, h)
		}
	}
	s.must(k.AddHistory(s.ctx, all))
	for level, l := range queue.HistoryLevels {
		got := s.history(level, now.Add(-200*l.Step), now.Add(-10*l.Step), "nobody", "physics/ann")
		if len(got) != 1 || got[0].Pool != "physics/ann" || got[0].Level != level {
			s.t.Fatalf("level %d: %d pools", level, len(got))
		}
		var want []queue.HistoryStep
		for _, step := range all[2*level+1].Steps {
			if !step.At.Before(now.Add(-200*l.Step)) && step.At.Before(now.Add(-10*l.Step)) {
				want = append(want, step)
			}
		}
		if !slices.EqualFunc(got[0].Steps, want, near) {
			s.t.Errorf("level %d: %d steps, want %d; the first is %+v, want %+v", level, len(got[0].Steps), len(want), got[0].Steps[0], want[0])
		}
		if both := s.history(level, now.Add(-l.Step), now, "physics/ann", ""); len(both) != 2 || both[1].Pool != "" || len(both[1].Steps) != 1 {
			s.t.Errorf("level %d: the last step of both pools: %+v", level, both)
		}
	}
	if got := s.history(0, now, now, ""); len(got) != 0 {
		s.t.Errorf("of no time at all: %+v", got)
	}
	if err := k.AddHistory(s.ctx, []queue.PoolHistory{{Level: 3, Steps: []queue.HistoryStep{{At: now}}}}); err == nil {
		s.t.Error("a fourth level was taken")
	}
}

// near reports whether steps are equal within a store's precision.
func near(a, b queue.HistoryStep) bool {
	same := a.At.Equal(b.At)
	for _, p := range [][2]float64{{a.Seconds, b.Seconds}, {a.Share, b.Share}, {a.Used, b.Used}, {a.FairNow, b.FairNow},
		{a.Running, b.Running}, {a.Demand, b.Demand}, {a.Waiting, b.Waiting}, {a.OldestWait, b.OldestWait}} {
		same = same && math.Abs(p[0]-p[1]) < 0.051
	}
	return same
}

// historyAddsUp: one part of a step comes from one server, the rest from another.
func historyAddsUp(s *suite) {
	k := s.keeper()
	at := time.Now().Truncate(time.Hour).Add(-time.Hour)
	a := queue.HistoryStep{At: at, Seconds: 120, Running: 240, Waiting: 12, OldestWait: 50}
	b := queue.HistoryStep{At: at, Seconds: 60, Running: 30, Share: 30, OldestWait: 20}
	for _, part := range []queue.HistoryStep{a, b} {
		s.must(k.AddHistory(s.ctx, []queue.PoolHistory{{Pool: "a", Level: 1, Steps: []queue.HistoryStep{part}}}))
	}
	got := s.history(1, at, at.Add(time.Minute), "a")
	want := queue.HistoryStep{At: at, Seconds: 180, Share: 30, Running: 270, Waiting: 12, OldestWait: 50}
	if len(got) != 1 || len(got[0].Steps) != 1 || !near(got[0].Steps[0], want) {
		s.t.Fatalf("%+v, want %+v", got, want)
	}
	// Two servers that saw the same time do not count twice.
	for range 2 {
		s.must(k.AddHistory(s.ctx, []queue.PoolHistory{{Pool: "b", Steps: []queue.HistoryStep{step(0, at, 4)}}}))
	}
	if got := s.history(0, at, at.Add(time.Second), "b"); len(got) != 1 || !near(got[0].Steps[0], step(0, at, 4)) {
		s.t.Errorf("the same twice is %+v", got)
	}
}

// historyIsForgotten: adding steps removes steps that are too old, level by level.
func historyIsForgotten(s *suite) {
	k := s.keeper()
	now := time.Now()
	old := now.Add(-26 * time.Hour).Truncate(time.Hour)
	add := func(at time.Time) {
		var all []queue.PoolHistory
		for level := range queue.HistoryLevels {
			all = append(all, queue.PoolHistory{Pool: "a", Level: level, Steps: []queue.HistoryStep{step(level, at, 1)}})
		}
		s.must(k.AddHistory(s.ctx, all))
	}
	add(old)
	add(now.Truncate(time.Hour))
	for level, want := range []int{1, 2, 2} {
		n := 0
		for _, p := range s.history(level, now.Add(-48*time.Hour), now.Add(time.Hour), "a") {
			n += len(p.Steps)
		}
		if n != want {
			s.t.Errorf("level %d has %d steps, want %d", level, n, want)
		}
	}
}

// BenchAddHistory measures how long writing a minute of many busy pools takes.
func BenchAddHistory(b *testing.B, store queue.Store, pools int) {
	k := store.(queue.HistoryKeeper)
	at := time.Now().Truncate(time.Hour).Add(-time.Hour)
	for n := 0; b.Loop(); n++ {
		var all []queue.PoolHistory
		for i := range pools {
			h := queue.PoolHistory{Pool: "pool" + string(rune('a'+i%26)) + "/" + time.Duration(i).String()}
			for j := range 6 {
				h.Steps = append(h.Steps, step(0, at.Add(time.Duration(6*n+j)*10*time.Second), float64((i*7+n*13+j)%97)))
			}
			all = append(all, h)
		}
		if err := k.AddHistory(b.Context(), all); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*pools), "µs/pool")
}
