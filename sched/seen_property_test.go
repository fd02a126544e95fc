package sched_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// TestStarvationIsSeen: whatever is configured, a job that fits on the empty machine starts within a bound, or
// GateView.Starves says how others pass it forever. The adversaries of TestStarvation compete with jobs under all
// backfill rules and policies: below pools with unequal shares under decay, with less than one slot as share under
// load, or with a maximum; beside jobs of a higher priority; and with a short backfill_window.
//
// The bound is that of TestStarvation, and seven half-lives more under decay: after these a key fully shows how much a
// pool uses.
func TestStarvationIsSeen(t *testing.T) {
	if *duelSeed > 0 {
		watch(t, *duelSeed)
		return
	}
	seen, all := map[string]int{}, *duels/10
	for seed := range uint64(all) {
		if name, starved := watch(t, seed+1); starved {
			seen[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("of %d jobs %d starved: %s", all, seen[name], name)
	}
	for _, name := range []string{"first-fit", "backfill_window", "choice", "licenses", "license order", "maximum",
		"target", "unused share"} {
		if all >= 2000 && seen[name] == 0 {
			t.Errorf("no job starved by %s", name)
		}
	}
}

// watch lets a job wait among those of an adversary. It returns the name of the gate that reports starvation.
func watch(t *testing.T, seed uint64) (name string, starved bool) {
	t.Helper()
	place := []sched.Backfill{sched.FirstFit, sched.FCFS, sched.EASY, sched.Conservative, sched.FCFS, sched.EASY,
		sched.Conservative}[seed%7]
	d := newDuel(t, rand.New(rand.NewPCG(seed, 16)), &duel{backfill: place, free: true})
	limit := d.bound() + 7*d.halfLife
	if !d.waits(limit) {
		return "", false
	}
	g, told := d.starves()
	if !told {
		t.Errorf("seed %d: %s has waited for %v, the bound, and nobody is said to pass it; %d tasks run "+
			"(go test ./sched -run 'TestStarvationIsSeen$' -seed=%d)", seed, d, limit, len(d.runs), seed)
	}
	return g.Name, true
}

// starves returns the gate that makes the victim starve.
func (d *duel) starves() (why.Gate, bool) {
	return d.GateView().Starves(sched.Job{ID: d.victim, Pool: d.Pool(d.pools[0]), Key: d.KeyOf(d.want), Priority: normal,
		Submitted: d.came})
}
