package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// again makes a loop over the store of an earlier loop, with a node of this number of
// slots, whose handlers sleep for the duration in the job's name.
func again(t *testing.T, store fairlead.Store, s fairlead.Shares, slots int) (*engine.Loop, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	loop, err := newLoop(ctx, store, engine.LoopOptions{Shares: s})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 2)
	go func() { loop.Run(ctx); ended <- struct{}{} }()
	go func() {
		h := engine.HandlerFunc(func(ctx context.Context, l *fairlead.Lease) error {
			d, _ := time.ParseDuration(l.Job.Name)
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
			return nil
		})
		if slots > 0 {
			loop.Work(ctx, engine.WorkOptions{Slots: slots, Handlers: map[string]engine.Handler{"work": h}})
		}
		ended <- struct{}{}
	}()
	synctest.Wait()
	return loop, func() { cancel(); <-ended; <-ended }
}

func poolOf(t *testing.T, l *engine.Loop, path string) views.PoolView {
	t.Helper()
	for _, p := range views.Pools(t.Context(), l) {
		if p.Path == path {
			return p
		}
	}
	t.Fatalf("no pool %s", path)
	return views.PoolView{}
}

func twoPools() fairlead.Shares {
	s := fairlead.DefaultShares()
	s.Sched.Root.Pools = []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 3}}
	return s
}

// TestBoostReverts: a boost ends by itself at its time, and is shown while it lasts.
func TestBoostReverts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		loop, stop := again(t, store, twoPools(), 1)
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Name: "10h"})
		synctest.Wait()
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Name: "1h"}, fairlead.Job{Pool: "b", Name: "1h"})
		b, err := loop.Overrides.Boost(t.Context(),
			engine.Boost{Pool: "a", Factor: 2, Until: time.Now().Add(6 * time.Hour), By: "alice", Reason: "deadline"}, "socket")
		if err != nil {
			t.Fatal(err)
		}
		if p := poolOf(t, loop, "a"); p.Weight != 2 || p.BaseWeight != 1 || len(p.Boosts) != 1 || p.Boosts[0].By != "alice" ||
			p.ShareHere != 0.4 {
			t.Errorf("boosted: %+v", p)
		}
		time.Sleep(time.Hour)
		if all := loop.Overrides.Boosts(); len(all) != 1 || all[0].ID != b.ID || all[0].Had != 3600 {
			t.Errorf("boosts %+v", all)
		}
		a, err := forecast.New(loop).Why(t.Context(), 2, explain.WhyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := "weight of a: 2 = 1 x 2 boost until "; !strings.Contains(a.Text(), want) ||
			!strings.Contains(a.Text(), "by alice: deadline") {
			t.Errorf("why does not say %q:\n%s", want, a.Text())
		}
		time.Sleep(5*time.Hour - time.Second)
		if p := poolOf(t, loop, "a"); p.Weight != 2 {
			t.Error("it ended early")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if p := poolOf(t, loop, "a"); p.Weight != 1 || len(p.Boosts) != 0 || len(loop.Overrides.Boosts()) != 0 {
			t.Errorf("it did not end: %+v", p)
		}
		record, err := store.Audited(t.Context(), queue.AuditQuery{})
		if err != nil || len(record) != 2 || record[0].What != "boost ended" || record[1].Who != "alice" ||
			record[1].From != "socket" {
			t.Errorf("record %+v, %v", record, err)
		}
		if settings := settingsOf(t, store); len(settings) != 1 {
			t.Errorf("settings left: %v", settings)
		}
	})
}

// TestBoostOutlivesRestart: the end by usage is the same as without one.
func TestBoostOutlivesRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		loop, stop := again(t, store, twoPools(), 2)
		enginetest.Submit(t, loop, fairlead.Job{Pool: "a", Name: "90m"}, fairlead.Job{Pool: "a", Name: "100h"})
		synctest.Wait()
		time.Sleep(time.Hour)
		b, err := loop.Overrides.Boost(t.Context(), engine.Boost{Pool: "a", Factor: 3, Usage: 4 * 3600}, "")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // half an hour of the first, an hour of the second
		before := loop.Overrides.Boosts()
		if len(before) != 1 || before[0].Had != 1.5*3600 {
			t.Errorf("had %+v, want 1.5 hours", before)
		}
		second, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: twoPools()})
		if err != nil {
			t.Fatal(err)
		}
		if after := second.Overrides.Boosts(); len(after) != 1 || after[0].Had != before[0].Had ||
			!after[0].Began.Equal(before[0].Began) {
			t.Errorf("after a restart %+v, before %+v", after, before)
		}
		if p := poolOf(t, second, "a"); p.Weight != 3 {
			t.Errorf("after a restart the weight is %v", p.Weight)
		}
		time.Sleep(2*time.Hour + 30*time.Minute)
		synctest.Wait()
		if len(loop.Overrides.Boosts()) != 0 {
			t.Errorf("not used up: %+v", loop.Overrides.Boosts())
		}
		stop()
		next, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: twoPools()})
		if err != nil {
			t.Fatal(err)
		}
		c, err := next.Overrides.Boost(t.Context(), engine.Boost{Pool: "a", Factor: 3, Usage: 1}, "")
		if err != nil || c.ID != b.ID+1 {
			t.Errorf("a number is used again: %+v, %v", c, err)
		}
	})
}

func TestBoostIsCancelledAndRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := again(t, memory.New("cpu"), twoPools(), 0)
		defer stop()
		until := time.Now().Add(time.Hour)
		for _, b := range []engine.Boost{
			{Pool: "a", Factor: 0, Until: until}, {Pool: "a", Factor: 2}, {Pool: "a", Factor: 2, Until: time.Now()},
			{Pool: "a", Factor: 2, Usage: -1}, {Pool: "", Factor: 2, Until: until}, {Pool: "a", Factor: 2, Until: until,
				Reason: "\x1b"},
		} {
			if _, err := loop.Overrides.Boost(t.Context(), b, ""); !errors.Is(err, fairlead.ErrInvalid) {
				t.Errorf("%+v: %v", b, err)
			}
		}
		if _, err := loop.Overrides.Boost(t.Context(), engine.Boost{Pool: "z", Factor: 2, Until: until}, ""); !errors.Is(err,
			fairlead.ErrNotFound) {
			t.Errorf("a pool that is not there: %v", err)
		}
		b, err := loop.Overrides.Boost(t.Context(), engine.Boost{Pool: "b", Factor: 2, Until: until}, "")
		if err != nil || poolOf(t, loop, "b").Weight != 6 {
			t.Fatal(b, err)
		}
		if _, err := loop.Overrides.Unboost(t.Context(), b.ID, "bob", ""); err != nil || poolOf(t, loop, "b").Weight != 3 {
			t.Error(err)
		}
		if _, err := loop.Overrides.Unboost(t.Context(), b.ID, "bob", ""); !errors.Is(err, fairlead.ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestStarterOfNewUsers: the higher weight of a new user counts from the user's first job, also over a restart.
func TestStarterOfNewUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := memory.New("cpu"), fairlead.DefaultShares()
		s.Sched.Root.Starter = share.Starter{Weight: 4, For: 24 * time.Hour, Usage: 7200}
		loop, stop := again(t, store, s, 2)
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Name: "90m"}, fairlead.Job{User: "bob", Name: "100h"})
		synctest.Wait()
		time.Sleep(time.Hour)
		if a := poolOf(t, loop, "ann"); a.Weight != 4 || len(a.Boosts) != 1 || !a.Boosts[0].Starter ||
			a.Boosts[0].Had != 3600 {
			t.Errorf("ann: %+v", a)
		}
		second, err := newLoop(t.Context(), store, engine.LoopOptions{Shares: s})
		if err != nil {
			t.Fatal(err)
		}
		if x, y := poolOf(t, loop, "bob").Boosts, poolOf(t, second, "bob").Boosts; len(y) != 1 || x[0] != y[0] {
			t.Errorf("bob: %+v, after a restart %+v", x, y)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if x, y := poolOf(t, loop, "ann"), poolOf(t, loop, "bob"); x.Weight != 4 || y.Weight != 1 {
			t.Errorf("after two hours: ann %v, bob %v; want 4 and 1", x.Weight, y.Weight)
		}
		if err := loop.Configure(t.Context(), s); err != nil || poolOf(t, loop, "bob").Weight != 1 {
			t.Errorf("bob's begins again with a configuration: %v", err)
		}
		time.Sleep(22 * time.Hour)
		if x := poolOf(t, loop, "ann"); x.Weight != 1 {
			t.Errorf("after a day: ann %v", x.Weight)
		}
		stop()
	})
}
