package forecast_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestReorderIsWhatComesTrue: the order that is forecast before a change of priorities is the order after the change,
// and asking changes nothing.
func TestReorderIsWhatComesTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := share.Pool{Policy: "fair", Pools: []share.Pool{
			{Name: "lab", Weight: 2, Pools: []share.Pool{{Name: "ann", Weight: 1}, {Name: "bob", Weight: 1}}},
			{Name: "spare", Weight: 1},
		}}
		loop, one, _, stop := backfilled(t, root)
		defer stop()
		var ids []int64
		for i := range 12 {
			user := []string{"ann", "bob"}[i%2]
			ids = append(ids, one(fairlead.Job{User: user, Name: fmt.Sprint("job", i),
				Pool: []string{"lab", "lab", "spare"}[i%3], Request: fairlead.Amounts{"cpu": 4}, Limit: time.Hour,
				Array: []string{"", "1-3"}[i/6]}))
		}
		held := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "lab", Held: true, Payload: []byte("1m")})[0]
		chosen := []int64{ids[10], ids[4], held, 1}
		high := "high"
		before := explain.New(loop).Order(t.Context()).Position
		r, err := forecast.New(loop).Reorder(t.Context(), chosen, forecast.Variation{Priority: &high})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Jobs) != 2 || r.Jobs[0].Job != chosen[0] || r.Jobs[1].Job != chosen[1] || r.Looked != 0 {
			t.Errorf("it is about %+v; the one that is held and the one that runs have no place", r)
		}
		if now := explain.New(loop).Order(t.Context()).Position; fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("to ask changed the order:\n%v\n%v", before, now)
		}
		var changes []queue.Alteration
		for _, id := range chosen[:2] {
			changes = append(changes, queue.Alteration{Job: id, Verb: queue.VerbPrioritise, Priority: high})
		}
		if errs, err := loop.Client().Alter(t.Context(), changes...); err != nil || errs[0] != nil || errs[1] != nil {
			t.Fatal(errs, err)
		}
		synctest.Wait()
		after := explain.New(loop).Order(t.Context()).Position
		later, sooner := 0, 0
		for id, was := range before {
			switch is := after[id]; {
			case id == chosen[0] || id == chosen[1]:
			case is > was:
				later++
			case is < was:
				sooner++
			}
		}
		if later == 0 || r.Later != later || r.Sooner != sooner || len(r.Others) != later {
			t.Errorf("%d are later and %d sooner, of which it said %+v", later, sooner, r)
		}
		all := 0
		for _, m := range append(r.Jobs, r.Others...) {
			if m.Before != before[m.Job] || m.After != after[m.Job] || m.User == "" || m.Name == "" {
				t.Errorf("%+v: from %d to %d", m, before[m.Job], after[m.Job])
			}
		}
		for _, p := range r.Pools {
			if all += p.Jobs; !strings.HasPrefix(p.Pool, "lab/") && p.Pool != "lab" &&
				!strings.HasPrefix(p.Pool, "spare") {
				t.Errorf("a pool is called %q", p.Pool)
			}
		}
		if all != later {
			t.Errorf("the pools have %d of the %d", all, later)
		}
	})
}

// TestReorderRefuses: Reorder refuses another limit, another pool, and unknown priorities.
func TestReorderRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, one, _, stop := backfilled(t, share.Pool{Policy: "fifo"})
		defer stop()
		id := one(fairlead.Job{User: "ann"})
		limit, pool, odd := time.Hour, "spare", "urgent"
		for want, v := range map[string]forecast.Variation{"only priorities": {Limit: &limit},
			"only priorities can": {Pool: &pool}, "is not a priority": {Priority: &odd}} {
			if _, err := forecast.New(loop).Reorder(t.Context(), []int64{id}, v); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", v, err, want)
			}
		}
	})
}

// TestPrioritiesMoveAsTheyAreCalled: two of twelve equal jobs of one pool run. Under every policy, a raised job gets an
// earlier place and starts earlier, and a lowered job gets a later place.
func TestPrioritiesMoveAsTheyAreCalled(t *testing.T) {
	want := map[string]int64{"very_high": 1, "high": 1, "normal": 8, "low": 10, "very_low": 10}
	for _, policy := range []string{"fair", "fairtree", "decay", "deficit", "drf", "load", "lottery", "fifo"} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
				o.Shares.Sched.Root = share.Pool{Policy: policy}
				loop, stop := start(t, o, 2, enginetest.Lasting)
				defer stop()
				var ids []int64
				for range 12 {
					ids = append(ids, enginetest.Submit(t, loop, fairlead.Job{User: "ann", Payload: []byte("1h")})[0])
				}
				time.Sleep(time.Minute)
				for priority, place := range want {
					r, err := forecast.New(loop).Reorder(t.Context(), ids[9:10],
						forecast.Variation{Priority: &priority})
					if err != nil {
						t.Fatal(err)
					}
					if r.Jobs[0].Before != 8 || r.Jobs[0].After != place {
						t.Errorf("%s: place %d -> %d, want 8 -> %d", priority, r.Jobs[0].Before, r.Jobs[0].After, place)
					}
				}
				change := []queue.Alteration{
					{Job: ids[9], Verb: queue.VerbPrioritise, Priority: "high"},
					{Job: ids[2], Verb: queue.VerbPrioritise, Priority: "low"},
				}
				if errs, err := loop.Client().Alter(t.Context(), change...); err != nil || errs[0] != nil ||
					errs[1] != nil {
					t.Fatal(errs, err)
				}
				synctest.Wait()
				order := explain.New(loop).Order(t.Context()).Position
				if order[ids[9]] != 1 || order[ids[2]] != 10 {
					t.Errorf("the raised job has the place %d and the lowered one %d, want 1 and 10", order[ids[9]],
						order[ids[2]])
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				for id, state := range map[int64]fairlead.State{ids[9]: fairlead.Running, ids[3]: fairlead.Running,
					ids[2]: fairlead.Waiting} {
					if j, err := loop.Client().Job(t.Context(), id); err != nil || j.State != state {
						t.Errorf("after an hour job %d is %v, want %v (%v)", id, j.State, state, err)
					}
				}
			})
		})
	}
}

// TestBoostReorderIsWhatComesTrue: the order that is forecast before a boost is the order after the boost has begun.
// Asking changes nothing.
func TestBoostReorderIsWhatComesTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := share.Pool{Policy: "fair", Pools: []share.Pool{
			{Name: "lab", Weight: 3, Pools: []share.Pool{{Name: "ann", Weight: 1}, {Name: "bob", Weight: 1}}},
			{Name: "spare", Weight: 1},
		}}
		loop, one, _, stop := backfilled(t, root)
		defer stop()
		first := int64(0)
		for i := range 12 {
			id := one(fairlead.Job{User: []string{"ann", "bob"}[i%2], Name: fmt.Sprint("job", i),
				Pool: []string{"lab", "lab", "spare"}[i%3], Request: fairlead.Amounts{"cpu": 4}, Limit: time.Hour})
			if i == 2 {
				first = id
			}
		}
		position := func() map[int64]int64 { return explain.New(loop).Order(t.Context()).Position }
		before := position()
		r, err := forecast.New(loop).Boost(t.Context(), sched.Boost{Pool: "spare", Factor: 10,
			Until: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if now := position(); fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("to ask changed the order:\n%v\n%v", before, now)
		}
		if _, err := loop.Overrides.Boost(t.Context(), engine.Boost{Pool: "spare", Factor: 10,
			Until: time.Now().Add(time.Hour), By: "root"}, "socket"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		after := position()
		if len(r.Jobs) != 1 || r.Jobs[0].Job != first || r.Jobs[0].User != "ann" || r.Jobs[0].Name != "job2" ||
			r.Jobs[0].Before != before[first] || r.Jobs[0].After != after[first] || after[first] >= before[first] {
			t.Errorf("the first job of the pool is %d, from place %d to %d; told: %+v", first, before[first], after[first],
				r.Jobs)
		}
		later, sooner := 0, 0
		for id, was := range before {
			switch is := after[id]; {
			case id == first:
			case is > was:
				later++
			case is < was:
				sooner++
			}
		}
		if later == 0 || sooner == 0 || r.Later != later || r.Sooner != sooner {
			t.Errorf("%d jobs are later and %d earlier; told: %d and %d", later, sooner, r.Later, r.Sooner)
		}
		for _, m := range r.Others {
			if m.Before != before[m.Job] || m.After != after[m.Job] || m.User == "" {
				t.Errorf("%+v: from %d to %d", m, before[m.Job], after[m.Job])
			}
		}
	})
}
