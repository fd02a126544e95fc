package sched_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// used returns the service that a pool has received until now.
func (w *world) used(pool string) float64 {
	w.t.Helper()
	id, known := w.Lookup(pool)
	if !known {
		w.t.Fatalf("there is no pool %s", pool)
	}
	w.Advance(w.now)
	return w.View(id).Service(w.Read().Now()) / w.Read().Now().Growth
}

func (w *world) wantUsed(pool string, want float64) {
	w.t.Helper()
	if got := w.used(pool); math.Abs(got-want) > 1e-6*(1+want) {
		w.t.Errorf("%s has received %v, want %v", pool, got, want)
	}
}

// TestQueued: a task in a queue of its node takes its room there but receives no service. It receives service from the
// moment when it begins, even if that is reported late.
func TestQueued(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 4, 1)
	w.submit("a", 3)
	starts := w.step(0)
	if len(starts) != 3 {
		t.Fatalf("%d tasks started", len(starts))
	}
	waits, begins, runs := starts[0].Run, starts[1].Run, starts[2].Run
	w.tick(time.Second)
	w.Queue(waits, w.now)
	w.Queue(begins, w.now)
	w.Queue(begins, w.now)
	w.wantUsed("a", 1) // the task that was not handed on
	a, _ := w.Lookup("a")
	if tasks, units := w.Read().Queued(a); tasks != 2 || units != 2 || w.View(a).Tasks != 3 || w.View(a).Running != 3 {
		t.Errorf("%d tasks and %v units wait in queues, of %d and %v", tasks, units, w.View(a).Tasks, w.View(a).Running)
	}
	w.tick(9 * time.Second)
	w.wantUsed("a", 10)
	w.Begin(begins, epoch.Add(8*time.Second), w.now)
	w.Begin(begins, epoch.Add(9*time.Second), w.now) // a task begins only once
	w.wantUsed("a", 12)
	w.tick(10 * time.Second)
	w.wantUsed("a", 32)
	w.Finish(waits, w.now, true)
	w.FinishAt(begins, epoch.Add(18*time.Second), w.now, true)
	w.Finish(runs, w.now, true)
	w.wantUsed("a", 10+20)
	if mean := w.View(a).Mean; math.Abs(mean-15) > 1e-9 {
		t.Errorf("tasks of 10 and 20 seconds have a mean of %v: one that never began has no length", mean)
	}
	if tasks, units := w.Read().Queued(a); tasks != 0 || units != 0 || w.Queues() != 0 {
		t.Errorf("%d tasks and %v units wait in queues of %d pools", tasks, units, w.Queues())
	}
}

// TestQueuedBounds: a wrong clock makes no service negative, nor longer than the lease.
func TestQueuedBounds(t *testing.T) {
	for began, want := range map[time.Duration]float64{-time.Hour: 10, 0: 10, 4 * time.Second: 6, time.Hour: 0} {
		w := newWorld(t, share.Pool{Policy: "fair"}, 1, 1)
		w.submit("a", 1)
		run := w.step(0)[0].Run
		w.Queue(run, w.now)
		w.tick(10 * time.Second)
		w.Begin(run, epoch.Add(began), w.now)
		w.wantUsed("a", want)
		w.Finish(run, w.now, true)
		w.wantUsed("a", want)
	}
}

// TestQueuedByDays: service of queued tasks is counted by days, too, if the policy counts days. Decaying usage ends as
// if the task had started when it began on the node.
func TestQueuedByDays(t *testing.T) {
	for _, name := range []string{"fair", "decay"} {
		cfg := sched.Config{Root: share.Pool{Policy: name}, NewPolicy: policy.New(policy.Options{}), HalfLife: 6 * time.Hour}
		late, direct := newWorldOf(t, cfg), newWorldOf(t, cfg)
		late.submit("a", 1)
		run := late.step(0)[0].Run
		late.Queue(run, late.now)
		late.tick(20 * time.Hour)
		late.Begin(run, late.now.Add(-10*time.Hour), late.now)
		direct.now = epoch.Add(10 * time.Hour)
		direct.submit("a", 1)
		other := direct.step(0)[0].Run
		for _, w := range []*world{late, direct} {
			w.now = epoch.Add(30 * time.Hour)
		}
		late.wantUsed("a", direct.used("a"))
		if a, _ := late.Lookup("a"); name == "decay" {
			x, y := late.DaysOf(a), direct.DaysOf(a)
			x.Advance(float64(late.now.Unix()))
			y.Advance(float64(late.now.Unix()))
			if p, q := x.Sum(float64(late.now.Unix())), y.Sum(float64(late.now.Unix())); math.Abs(p-q) > 1e-3 || q == 0 {
				t.Errorf("by days %v was received, and %v by a task that started then", p, q)
			}
		}
		late.Finish(run, late.now, true)
		direct.Finish(other, direct.now, true)
		late.wantUsed("a", direct.used("a"))
	}
}

// TestQueuedBoost: a boost by usage does not count the time for which a task waits in a queue.
func TestQueuedBoost(t *testing.T) {
	w := newWorld(t, two(), 2, 1)
	w.Boost(sched.Boost{ID: 1, Pool: "a", Factor: 3, Usage: 100}, w.now)
	w.submit("a", 1)
	run := w.step(0)[0].Run
	w.tick(5 * time.Second)
	w.Queue(run, w.now)
	w.tick(995 * time.Second)
	had := func(want float64) {
		t.Helper()
		w.Advance(w.now)
		if all := w.Read().Boosts(); len(all) != 1 || math.Abs(all[0].Had-want) > 1e-6 {
			t.Errorf("boosts %+v, want one that has had %v", all, want)
		}
	}
	had(0)
	w.Begin(run, w.now.Add(-30*time.Second), w.now)
	w.tick(10 * time.Second)
	had(40)
	w.tick(61 * time.Second)
	w.Advance(w.now)
	if all := w.Read().Boosts(); len(all) != 0 {
		t.Errorf("boosts %+v after the pool has had 101", all)
	}
}

// TestQueuedPlan: a plan expects the room of a queued task when the task has run for its limit, counted from its
// beginning once it has begun.
func TestQueuedPlan(t *testing.T) {
	cfg := sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), Backfill: sched.Conservative}
	w := newWorldOf(t, cfg)
	add := func(limit time.Duration) sched.Job {
		w.last++
		j := sched.Job{ID: w.last, Pool: w.Pool("a"), Key: w.Key(nil), Priority: normal, Tasks: 1, Limit: limit}
		w.Add(j, w.now)
		return j
	}
	add(time.Hour)
	run := w.step(0)[0].Run
	w.Queue(run, w.now)
	next := add(time.Hour)
	starts := func(want time.Duration) {
		t.Helper()
		w.step(0)
		k := w.Read().KeptFor(next.ID)
		if k == nil || k.From.Sub(epoch) != want {
			t.Errorf("at %v room is kept from %+v on, want from %v", w.now.Sub(epoch), k, want)
		}
	}
	starts(time.Hour)
	w.tick(50 * time.Minute)
	w.Begin(run, epoch.Add(40*time.Minute), w.now)
	starts(100 * time.Minute)
	w.tick(10 * time.Minute) // the end that was planned first
	starts(100 * time.Minute)
	w.Finish(run, w.now, true)
	if got := len(w.step(0)); got != 1 {
		t.Errorf("%d tasks started when the machine was free", got)
	}
}

// newWorldOf is newWorld with a configuration.
func newWorldOf(t testing.TB, cfg sched.Config) *world {
	t.Helper()
	s, err := sched.New(cfg, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", map[string]int64{"cpu": 1}, epoch)
	return &world{Scheduler: s, t: t, now: epoch}
}

// queue lets a task wait in a queue of its node.
func (m *model) queue(t *rapid.T) { m.Queue(m.aRun(t).id, m.now) }

// begin reports that a queued task began, now or some time ago.
func (m *model) begin(t *rapid.T) {
	r := m.aRun(t)
	m.Begin(r.id, m.now.Add(-time.Duration(rapid.IntRange(-5, 600).Draw(t, "ago"))*time.Second), m.now)
}

// aRun draws a running task.
func (m *model) aRun(t *rapid.T) modelRun {
	if len(m.running) == 0 {
		t.Skip("nothing runs")
	}
	return m.running[rapid.IntRange(0, len(m.running)-1).Draw(t, "run")]
}
