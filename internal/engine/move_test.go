package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// movesFirst is a store in which somebody moves a job just before it is leased for the first time.
type movesFirst struct {
	*memory.Store
	to string
}

func (s *movesFirst) Lease(ctx context.Context, holder string, wants []queue.Want, ttl time.Duration) ([]queue.Grant, error) {
	if to := s.to; to != "" && len(wants) > 0 {
		s.to = ""
		if _, err := s.Alter(ctx, []queue.Alteration{{Job: wants[0].Job, Verb: queue.VerbMove, Pool: to}}); err != nil {
			return nil, err
		}
	}
	return s.Store.Lease(ctx, holder, wants, ttl)
}

// TestMovedBetweenDecisionAndLease: a job that is moved after it was chosen runs once, on the
// account of the pool into which it went.
func TestMovedBetweenDecisionAndLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		store := &movesFirst{memory.New("cpu"), "there"}
		loop, err := newLoop(ctx, store, engine.LoopOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ran := 0
		go loop.Run(ctx)
		go loop.Work(ctx, engine.WorkOptions{Slots: 1, Handlers: map[string]engine.Handler{"work": engine.HandlerFunc(func(context.Context, *fairlead.Lease) error {
			ran++
			time.Sleep(time.Minute)
			return nil
		})}})
		synctest.Wait()
		id := enginetest.Submit(t, loop, fairlead.Job{Pool: "here"})[0]
		time.Sleep(time.Second)
		for _, p := range views.Pools(ctx, loop) {
			if want := map[string]float64{"there": 1, "": 1}[p.Path]; p.Running != want || p.Waiting != 0 {
				t.Errorf("%q: %v run, %d wait; want %v and 0", p.Path, p.Running, p.Waiting, want)
			}
		}
		time.Sleep(time.Minute)
		if s := enginetest.State(t, loop, id); s != fairlead.Succeeded || ran != 1 {
			t.Errorf("%s after %d runs", s, ran)
		}
		cancel()
		synctest.Wait()
	})
}

// TestMoveIsCheckedLikeASubmission: pools, those below them and time limits.
func TestMoveIsCheckedLikeASubmission(t *testing.T) {
	ctx := t.Context()
	shares := fairlead.DefaultShares()
	shares.Closed = true
	shares.Sched.Root.Pools = []share.Pool{
		{Name: "a", Weight: 1}, {Name: "quick", Weight: 1, Time: time.Minute, MaxTime: time.Hour},
		{Name: "people", Weight: 1, Pools: []share.Pool{{Name: "ann", Weight: 1}}},
	}
	loop, err := newLoop(ctx, memory.New("cpu"), engine.LoopOptions{Shares: shares})
	if err != nil {
		t.Fatal(err)
	}
	c := loop.Client()
	ids, err := c.Submit(ctx, fairlead.Job{Kind: "work", Pool: "a", User: "ann"}, fairlead.Job{Kind: "work", Pool: "a", User: "ann", Limit: 2 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	move := func(id int64, pool string) error {
		errs, err := c.Alter(ctx, queue.Alteration{Job: id, Verb: queue.VerbMove, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		return errs[0]
	}
	for _, x := range []struct {
		id   int64
		pool string
		want error
		in   string
		lim  time.Duration
	}{
		{ids[0], "quick", nil, "quick", time.Minute},
		{ids[1], "quick", queue.ErrForbidden, "a", 2 * time.Hour},
		{ids[1], "nowhere", fairlead.ErrInvalid, "a", 2 * time.Hour},
		{ids[1], "", fairlead.ErrInvalid, "a", 2 * time.Hour},
		{ids[1], "people", nil, "people/ann", 2 * time.Hour},
	} {
		err := move(x.id, x.pool)
		j, _ := c.Job(ctx, x.id)
		if !errors.Is(err, x.want) || j.Pool != x.in || j.Limit != x.lim {
			t.Errorf("job %d to %q: %v; it is in %s with a limit of %v", x.id, x.pool, err, j.Pool, j.Limit)
		}
	}
	if err := move(99, "a"); !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("a job that is not there: %v", err)
	}
}
