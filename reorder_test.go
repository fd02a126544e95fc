package fairlead_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/share"
)

// TestReorderIsWhatComesTrue: the order that is told before priorities change is the one that is there when
// they have, and to ask changes nothing.
func TestReorderIsWhatComesTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "lab", Weight: 2, Pools: []share.Pool{{Name: "ann", Weight: 1}, {Name: "bob", Weight: 1}}}, {Name: "spare", Weight: 1}}}
		loop, one, _, stop := backfilled(t, root)
		defer stop()
		var ids []int64
		for i := range 12 {
			user := []string{"ann", "bob"}[i%2]
			ids = append(ids, one(fairlead.Job{User: user, Name: fmt.Sprint("job", i), Pool: []string{"lab", "lab", "spare"}[i%3], Request: fairlead.Amounts{"cpu": 4}, Limit: time.Hour, Array: []string{"", "1-3"}[i/6]}))
		}
		held := submit(t, loop, fairlead.Job{User: "ann", Pool: "lab", Held: true, Payload: []byte("1m")})[0]
		chosen := []int64{ids[10], ids[4], held, 1}
		high := "high"
		before := loop.Order(t.Context()).Position
		r, err := loop.Reorder(t.Context(), chosen, fairlead.Variation{Priority: &high})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Jobs) != 2 || r.Jobs[0].Job != chosen[0] || r.Jobs[1].Job != chosen[1] || r.Looked != 0 {
			t.Errorf("it is about %+v; the one that is held and the one that runs have no place", r)
		}
		if now := loop.Order(t.Context()).Position; fmt.Sprint(now) != fmt.Sprint(before) {
			t.Errorf("to ask changed the order:\n%v\n%v", before, now)
		}
		var changes []fairlead.Alteration
		for _, id := range chosen[:2] {
			changes = append(changes, fairlead.Alteration{Job: id, Verb: fairlead.VerbPrioritise, Priority: high})
		}
		if errs, err := loop.Client().Alter(t.Context(), changes...); err != nil || errs[0] != nil || errs[1] != nil {
			t.Fatal(errs, err)
		}
		synctest.Wait()
		after := loop.Order(t.Context()).Position
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
			if all += p.Jobs; !strings.HasPrefix(p.Pool, "lab/") && p.Pool != "lab" && !strings.HasPrefix(p.Pool, "spare") {
				t.Errorf("a pool is called %q", p.Pool)
			}
		}
		if all != later {
			t.Errorf("the pools have %d of the %d", all, later)
		}
	})
}

// TestReorderRefuses: what cannot be asked about is named.
func TestReorderRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, one, _, stop := backfilled(t, share.Pool{Policy: "fifo"})
		defer stop()
		id := one(fairlead.Job{User: "ann"})
		limit, pool, odd := time.Hour, "spare", "urgent"
		for want, v := range map[string]fairlead.Variation{"only priorities": {Limit: &limit}, "only priorities can": {Pool: &pool}, "is not a priority": {Priority: &odd}} {
			if _, err := loop.Reorder(t.Context(), []int64{id}, v); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", v, err, want)
			}
		}
	})
}
