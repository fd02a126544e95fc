package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

var epoch = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

const normal = 2 // index of the default priority

// world is a scheduler with one node, driven by hand.
type world struct {
	*sched.Scheduler
	t    testing.TB
	now  time.Time
	last int64
	d    sched.Decision
}

func newWorld(t testing.TB, root share.Pool, slots int64, seed uint64) *world {
	t.Helper()
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{})}, epoch, seed)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": slots}, epoch)
	return &world{Scheduler: s, t: t, now: epoch}
}

// weigh makes the priorities weights.
func (w *world) weigh() {
	w.t.Helper()
	cfg := w.Read().Config()
	cfg.PriorityWeights = true
	if err := w.Configure(cfg, w.now); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) submit(pool string, tasks int) sched.Job {
	w.last++
	j := sched.Job{ID: w.last, Pool: w.Pool(pool), Key: w.Key(nil), Priority: normal, Tasks: tasks}
	w.Add(j, w.now)
	return j
}

// step starts all tasks that can start and returns the starts, in order.
func (w *world) step(limit int) []sched.Start {
	var starts []sched.Start
	for {
		w.Step(w.now, limit, &w.d)
		starts = append(starts, w.d.Starts...)
		if !w.d.More || limit > 0 {
			return starts
		}
	}
}

func (w *world) paths(starts []sched.Start) []string {
	var p []string
	for _, s := range starts {
		p = append(p, w.Path(s.Pool))
	}
	return p
}

func (w *world) tick(d time.Duration) { w.now = w.now.Add(d) }
