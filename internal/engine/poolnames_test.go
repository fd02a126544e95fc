package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// TestUsersShareNoPool: users whose names are alike have pools of their own, whichever way their jobs get there, and
// are found by their names.
func TestUsersShareNoPool(t *testing.T) {
	rules, err := share.NewPlacementRules([]share.Rule{{Match: map[string]string{"kind": "below"}, Pool: "lab/{user}"}, {Match: map[string]string{"kind": "asks"}, Pool: "lab/{requestor}"}})
	if err != nil {
		t.Fatal(err)
	}
	users := []string{"a b", "a/b", "a_b", "a:b", "a=20b", "default", "_", ".", "", strings.Repeat("x", 70), strings.Repeat("x", 64)}
	for _, ways := range []struct {
		placement  *share.PlacementRules
		kind, pool string
	}{{nil, "work", ""}, {nil, "work", "lab"}, {rules, "below", ""}, {rules, "asks", ""}} {
		synctest.Test(t, func(t *testing.T) {
			o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
			o.Shares.PlacementRules = ways.placement
			if ways.pool != "" {
				o.Shares.Sched.Root.Pools = []share.Pool{{Name: "lab", Weight: 1, Pools: []share.Pool{{Name: "x", Weight: 1}}}}
			}
			loop, stop := start(t, o, 0, nil)
			defer stop()
			of := map[string]string{}
			for _, user := range users {
				id := enginetest.Submit(t, loop, fairlead.Job{User: user, Kind: ways.kind, Pool: ways.pool})[0]
				j, err := loop.Client().Job(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if other, taken := of[j.Pool]; taken {
					t.Errorf("%q and %q are in %s", user, other, j.Pool)
				}
				of[j.Pool] = user
				synctest.Wait()
				if a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{}); err != nil || a.Subject.Pool != j.Pool {
					t.Errorf("why says of a job in %s: %+v %v", j.Pool, a, err)
				}
				if user == "" || user == "default" {
					continue // this name means the pool of everybody
				}
				if p, err := loop.Overrides.Pause(t.Context(), engine.Pause{Pool: user}, "test"); err != nil || p.Pool != j.Pool && user != "a=20b" {
					t.Errorf("a pause of %q is of %q, %v; want %s", user, p.Pool, err, j.Pool)
				}
			}
		})
	}
}

// TestStaleNames: a pool in the configuration that was a user's by its old name is told of, until the
// configuration has the new one. A closed tree says what to do when it refuses the user.
func TestStaleNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		named := func(names ...string) fairlead.Shares {
			s := o.Shares
			for _, name := range names {
				s.Sched.Root.Pools = append(slices.Clip(s.Sched.Root.Pools), share.Pool{Name: name, Weight: 5})
			}
			return s
		}
		before := o.Shares
		o.Shares = named("cust_42", "ann")
		loop, stop := start(t, o, 0, nil)
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{User: "ann"}, fairlead.Job{User: "cust_42"})
		synctest.Wait()
		if got := loop.StaleNames(); len(got) != 0 {
			t.Errorf("stale: %v", got)
		}
		enginetest.Submit(t, loop, fairlead.Job{User: "cust:42"})
		synctest.Wait()
		if got := loop.StaleNames(); len(got) != 1 || got[0] != (engine.StaleName{Pool: "cust_42", User: "cust:42", Own: "cust=3A42"}) {
			t.Errorf("stale: %v", got)
		}
		o.Shares = before
		s := named("cust_42", "cust=3A42")
		if err := loop.Configure(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := loop.StaleNames(); len(got) != 0 {
			t.Errorf("stale with both: %v", got)
		}
		s = named("cust_42")
		s.Closed = true
		if err := loop.Configure(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		_, err := loop.Client().Submit(t.Context(), fairlead.Job{User: "cust:42", Kind: "work"})
		if want := `("cust_42" was the pool of cust:42 before an upgrade; an administrator has to call it "cust=3A42" now)`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("refused with %v, want %s", err, want)
		}
	})
}

// TestRenamesAreTold: the log lists renamed pools once. At each start it lists the changes that an administrator has to
// make.
func TestRenamesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		text, err := (&poolnames.Report{
			Renamed: []poolnames.Change{{User: "a=b", From: "a=b", To: "a=3Db"}},
			Parted:  []poolnames.Parted{{Pool: "a_b", Users: []string{"a b", "a/b"}, Moved: []poolnames.Moved{{User: "a b", To: "a=20b"}, {User: "a/b", To: "a=2Fb"}}}},
		}).Text()
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Set(t.Context(), poolnames.Setting, text); err != nil {
			t.Fatal(err)
		}
		said := func() string {
			var log bytes.Buffer
			o := engine.LoopOptions{Shares: fairlead.DefaultShares(), Logger: slog.New(slog.NewTextHandler(&log, nil))}
			o.Shares.Sched.Root.Pools = []share.Pool{{Name: "a=b", Weight: 5}}
			if _, err := newLoop(context.Background(), store, o); err != nil {
				t.Fatal(err)
			}
			return log.String()
		}
		first, second := said(), said()
		for _, want := range []string{"several users shared a pool", `pool=a_b users="[a b a/b]"`, `old name of a user's pool; change it to the new name" pool="a=b" user="a=b" new="a=3Db"`} {
			if !strings.Contains(first, want) {
				t.Errorf("the log lacks %s:\n%s", want, first)
			}
		}
		if strings.Contains(second, "shared") || !strings.Contains(second, "a=3Db") {
			t.Errorf("the second start says\n%s", second)
		}
	})
}
