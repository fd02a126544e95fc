package engine_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// TestProgramsNamePools: jobs of a program name pools as users do at a server, whether the program has a loop or only
// submits.
func TestProgramsNamePools(t *testing.T) {
	rules, err := share.NewPlacementRules([]share.Rule{{Pool: "guests/{user}"}})
	if err != nil {
		t.Fatal(err)
	}
	shares := fairlead.DefaultShares()
	shares.Sched.Root.Pools = []share.Pool{{Name: "guests", Weight: 1}, {Name: "a=20b", Weight: 1}}
	shares.PlacementRules, shares.Closed = rules, true
	store := memory.New("cpu")
	loop, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: shares})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*engine.Client{"a loop": loop.Client(), "a client": engine.NewClient(store, shares)} {
		for pool, want := range map[string]string{
			"": "guests/c=20d", "guests": "guests/c=20d", "guests/c d": "guests/c=20d", "guests/c=20d": "guests/c=20d",
			"a b": "a=20b", `guests/"e/f"`: "guests/e=2Ff",
		} {
			ids, err := c.Submit(t.Context(), fairlead.Job{Kind: "work", User: "c d", Pool: pool})
			if err != nil {
				t.Errorf("%s: %q: %v", name, pool, err)
				continue
			}
			if j, err := c.Job(t.Context(), ids[0]); err != nil || j.Pool != want {
				t.Errorf("%s: %q leads to %s, %v; want %s", name, pool, j.Pool, err, want)
			}
			errs, err := c.Alter(t.Context(), queue.Alteration{Job: ids[0], Verb: queue.VerbMove, Pool: "guests/g h"})
			if j, _ := c.Job(t.Context(), ids[0]); err != nil || errs[0] != nil || j.Pool != "guests/g=20h" {
				t.Errorf("%s: moved to %s: %v, %v", name, j.Pool, err, errs)
			}
		}
		if _, err := c.Submit(t.Context(), fairlead.Job{Kind: "work", User: "c d", Pool: "chemistry/c d"}); err == nil {
			t.Errorf("%s: a pool that no rule makes was taken", name)
		}
	}
}
