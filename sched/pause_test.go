package sched_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// pause keeps a pool from starting anything for a time, or until it is resumed.
func (m *model) pause(t *rapid.T) {
	p := sched.Pause{Pool: rapid.SampledFrom(append([]string{"", "d"}, paths...)).Draw(t, "paused"), Since: m.now}
	if rapid.Bool().Draw(t, "ends") {
		p.Until = m.now.Add(time.Duration(rapid.IntRange(0, 9000).Draw(t, "for")) * time.Millisecond)
	}
	m.paused[p.Pool] = p.Until
	m.Pause(p, m.now)
}

func (m *model) resume(t *rapid.T) {
	pool := rapid.SampledFrom(append([]string{"", "d"}, paths...)).Draw(t, "resumed")
	until, paused := m.paused[pool]
	paused = paused && (until.IsZero() || until.After(m.now))
	delete(m.paused, pool)
	if got := m.Resume(pool, m.now); got != paused {
		t.Fatalf("%q was paused: %v, want %v", pool, got, paused)
	}
}

// isPaused reports whether a pool is paused, by itself or by a pool above it.
func (m *model) isPaused(path string) bool {
	for pool, until := range m.paused {
		if inPool(path, pool) && (until.IsZero() || until.After(m.now)) {
			return true
		}
	}
	return false
}

// TestPauseStartsNothing: running tasks continue and new jobs wait, also in pools that are made while a pool above them
// is paused; other pools get the free slots.
func TestPauseStartsNothing(t *testing.T) {
	w := newWorld(t, two(), 4, 1)
	w.submit("a", 2)
	w.step(0)
	w.Pause(sched.Pause{Pool: "a", Since: w.now, Note: "by ann: a broken license"}, w.now)
	w.submit("a", 9)
	w.submit("a/new", 1)
	if got := w.step(0); len(got) != 0 || w.running("a") != 2 {
		t.Errorf("started %v in a paused pool, in which %d run", w.paths(got), w.running("a"))
	}
	if id, _ := w.Lookup("a/new"); w.Eligible(id) {
		t.Error("a pool below may start something")
	} else if p, paused := w.Read().PauseOf(id); !paused || p.Pool != "a" {
		t.Errorf("a pool below is paused by %+v, %v", p, paused)
	}
	w.submit("b", 9)
	if got := w.step(0); len(got) != 2 {
		t.Errorf("the others started %d tasks, want what is free: 2", len(got))
	}
	a, _ := w.Lookup("a")
	if e := w.Read().Entitlements()[a]; e.Now != 2 || e.Demand != 12 {
		t.Errorf("it is entitled to %v now and wants %v; it can use what runs, 2 of 12", e.Now, e.Demand)
	}
}

// TestPauseSaysSo: the reason names the paused pool, and until when.
func TestPauseSaysSo(t *testing.T) {
	w := newWorld(t, two(), 4, 1)
	j := w.submit("a", 1)
	w.Pause(sched.Pause{Pool: "a", Since: w.now, Until: w.now.Add(time.Hour), Note: "by ann: a broken license"}, w.now)
	var closed []why.Gate
	for _, g := range w.GateView().Gates(j) {
		if !g.Open {
			closed = append(closed, g)
		}
	}
	if len(closed) != 1 || closed[0].Code != why.GatePaused || closed[0].Where != "a" {
		t.Fatalf("closed: %+v", closed)
	}
	for _, part := range []string{
		"a is paused since " + instant.Text(w.now) + ", until " + instant.Text(w.now.Add(time.Hour)),
		", by ann: a broken license",
	} {
		if !strings.Contains(closed[0].Text, part) {
			t.Errorf("%q does not say %q", closed[0].Text, part)
		}
	}
}

// TestPauseEnds: a pause ends at its time, whether or not somebody looks before or after, by a new end that replaces
// the first, or by hand. A fork has pauses of its own.
func TestPauseEnds(t *testing.T) {
	w := newWorld(t, two(), 4, 1)
	w.submit("a", 9)
	until := w.now.Add(time.Hour)
	w.Pause(sched.Pause{Pool: "a", Until: until}, w.now)
	if w.step(0); !w.d.Next.Equal(until) {
		t.Errorf("next look at %v, want %v", w.d.Next, until)
	}
	f := w.Fork()
	if f.Resume("a", w.now); len(w.Read().Pauses()) != 1 || len(f.Read().Pauses()) != 0 {
		t.Errorf("of the original %+v, of the fork %+v", w.Read().Pauses(), f.Read().Pauses())
	}
	w.Pause(sched.Pause{Pool: "a", Until: until.Add(time.Hour)}, w.now)
	w.now = until
	if got := w.step(0); len(got) != 0 {
		t.Errorf("started %v at the end that it no longer has", w.paths(got))
	}
	w.now = until.Add(3 * time.Hour)
	if got := w.step(0); len(got) != 4 {
		t.Errorf("after its end %d started", len(got))
	}
	if ended := w.EndedPauses(); len(ended) != 1 || ended[0].Pool != "a" || len(w.EndedPauses()) != 0 {
		t.Errorf("ended %+v", ended)
	}
}

// TestPauseOwesNothing: neither under fair nor under deficit does a pool get more afterwards
// to make up for its pause.
func TestPauseOwesNothing(t *testing.T) {
	for _, policy := range []string{"fair", "deficit"} {
		w := newWorld(t, share.Pool{Policy: policy, Pools: two().Pools}, 4, 1)
		w.submit("a", 10000)
		w.submit("b", 10000)
		round := func() (a int) {
			starts := w.step(0)
			w.tick(10 * time.Second)
			for _, s := range starts {
				if w.Path(s.Pool) == "a" {
					a++
				}
				w.Finish(s.Run, w.now, true)
			}
			return a
		}
		for range 100 {
			round()
		}
		w.Pause(sched.Pause{Pool: "a"}, w.now)
		for range 100 {
			if a := round(); a != 0 {
				t.Fatalf("%s: %d started while it was paused", policy, a)
			}
		}
		w.Resume("a", w.now)
		sum := 0
		for range 100 {
			sum += round()
		}
		if sum < 195 || sum > 205 {
			t.Errorf("%s: afterwards it got %d of 400 starts, want half", policy, sum)
		}
	}
}
