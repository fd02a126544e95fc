package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestDaysUnderPriorityClasses: a pool with jobs of several priorities gets child pools; the charge of its tasks is
// still counted by days.
func TestDaysUnderPriorityClasses(t *testing.T) {
	cfg := sched.Config{Root: share.Pool{Policy: "decay", Options: share.Options{Decay: share.Decay{Days: 2, Factor: 0.5}}}, NewPolicy: policy.New(policy.Options{})}
	w := newWorldOf(t, cfg)
	w.Join("n", cluster.Amounts{"cpu": 8}, w.now)
	for p := range 2 {
		w.last++
		w.Add(sched.Job{ID: w.last, Pool: w.Pool("a"), Key: w.Key(nil), Priority: p, Tasks: 2}, w.now)
	}
	w.step(0)
	w.tick(time.Hour)
	w.submit("a/x", 1)
	w.sound()
	w.Advance(w.now)
	above, _ := w.Lookup("a")
	below, _ := w.Lookup("a/default")
	now := float64(w.now.Unix())
	if got, want := w.DaysOf(below).Sum(now), w.DaysOf(above).Sum(now); got != want || got != 4*3600 {
		t.Errorf("a/default received %v by days, a %v, want %v", got, want, 4*3600)
	}
}
