package sched_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead/fairlead/why/room"
)

// TestPlannedStartsAreRecomputed: each planned start, and each job that the planned start holds back, follows from the
// numbers in the answer.
func TestPlannedStartsAreRecomputed(t *testing.T) {
	kept, behind := 0, 0
	for seed := uint64(1); seed <= uint64(*duels)/4; seed++ {
		d := newDuel(t, rand.New(rand.NewPCG(seed, 18)), &duel{backfill: backfills[seed%2]})
		check := func(what string, k *room.Kept) {
			if _, err := k.AddPlan().Check(); err != nil {
				t.Fatalf("seed %d: %s: %s: %v: %+v %+v", seed, d, what, err, k, k.Plan)
			}
		}
		for limit := d.bound(); !d.started && (d.came.IsZero() || d.now.Sub(d.came) < limit); d.pass() {
			d.act()
			if d.step(); d.started {
				break
			}
			if k := d.Read().KeptFor(d.victim); k != nil {
				kept++
				check("its own room", k)
			}
			for _, j := range d.recent {
				if now, _ := d.Read().Waits(j); !now {
					continue
				}
				if k := d.GateView().InTheWay(j); k != nil {
					behind++
					check("in the way", k)
				}
			}
		}
	}
	if kept < *duels/4 || behind < *duels/4 {
		t.Errorf("%d planned starts and %d jobs behind one were checked", kept, behind)
	}
	t.Logf("%d planned starts and %d jobs behind one were recomputed", kept, behind)
}

// TestFalsePlannedStartsAreRefused: a planned start that does not follow from the numbers is refused.
func TestFalsePlannedStartsAreRefused(t *testing.T) {
	w := newLasting(t, usersOf("fair"), backfills[0])
	w.add("a", 1, 1, 60*time.Second, 60*time.Second)
	w.add("a", 1, 2, 90*time.Second, 90*time.Second)
	wide := w.add("b", 2, 4, 10*time.Second, 10*time.Second)
	narrow := w.add("a", 1, 1, time.Second, 100*time.Second)
	for name, change := range map[string]func(k *room.Kept){
		"":                  func(*room.Kept) {},
		"it begins earlier": func(k *room.Kept) { k.From = k.From.Add(-time.Second) },
		"it begins later":   func(k *room.Kept) { k.From, k.To = k.From.Add(time.Second), k.To.Add(time.Second) },
		"a task more": func(k *room.Kept) {
			n := &k.Plan.Nodes[0]
			n.Uses = append(n.Uses, room.Use{Until: k.To, Takes: k.Plan.Need})
		},
		"it needs more":     func(k *room.Kept) { k.Plan.Need["cpu"]++ },
		"the node has less": func(k *room.Kept) { k.Plan.Nodes[1].Has["cpu"]-- },
	} {
		k := w.Read().KeptFor(wide).AddPlan()
		change(k)
		if text, err := k.Check(); (err == nil) != (name == "") {
			t.Errorf("%q: %q, %v", name, text, err)
		}
	}
	for name, change := range map[string]func(k *room.Kept){
		"":                     func(*room.Kept) {},
		"it would end in time": func(k *room.Kept) { k.Plan.Behind.Seconds = 90 },
	} {
		k := w.GateView().InTheWay(w.jobs[narrow])
		if k == nil {
			t.Fatalf("nothing is in the way of the narrow job: %v", w.began)
		}
		change(k.AddPlan())
		if text, err := k.Check(); (err == nil) != (name == "") {
			t.Errorf("%q: %q, %v", name, text, err)
		}
	}
}
