package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/store/memory"
)

// counting is a store that counts how often it counts.
type counting struct {
	*memory.Store
	times int
}

func (c *counting) CountUsers(ctx context.Context) (map[string]queue.UserCount, error) {
	c.times++
	return c.Store.CountUsers(ctx)
}

// limited is a loop that only keeps jobs, with limits of users.
func limited(t *testing.T, store fairlead.Store, l allocation.UserLimits) *engine.Loop {
	t.Helper()
	o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
	o.Shares.Users = l
	everything := access.Pool{Submit: []access.Subject{access.Everybody}, Create: []string{access.Anything}}
	o.Shares.Access.Pools = map[string]access.Pool{"": everything}
	o.Shares.Sched.Root.Pools = []share.Pool{{Name: "named", Weight: 1, Pools: []share.Pool{{Name: "below", Weight: 1}}}}
	loop, err := newLoop(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	return loop
}

// into returns jobs of ann, each in a pool of its own.
func into(paths ...string) (jobs []fairlead.Job) {
	for _, p := range paths {
		jobs = append(jobs, fairlead.Job{User: "ann", Kind: "work", Pool: p})
	}
	return jobs
}

// someone is a user who is no administrator, and may use every pool: see limited.
var someone = &access.Principal{Kind: access.User, Name: "ann", UID: 1000}

var within = engine.SubmitOptions{By: someone}

// TestUserLimits: a submission that would put a user above a limit is refused as a whole, and the error says why.
// Submissions of other users, and of users without limits, are accepted.
func TestUserLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		loop := limited(t, store, allocation.UserLimits{Jobs: 4, Tasks: 100, Pools: 3})
		ctx := t.Context()
		try := func(jobs []fairlead.Job, want string) {
			t.Helper()
			if err := loop.Intake.CheckLimits(ctx, someone, jobs); (err == nil) != (want == "") {
				t.Errorf("the check says %v, want %q", err, want)
			}
			subs, err := loop.Intake.SubmitWith(ctx, jobs, within)
			switch {
			case want == "" && (err != nil || subs[0].Err != nil):
				t.Errorf("got %v, %v", subs, err)
			case want != "" && (!errors.Is(err, fairlead.ErrLimit) || !strings.Contains(err.Error(), want)):
				t.Errorf("got %v, want %q", err, want)
			}
		}
		try(into("ann", "ann"), "")
		try(into("ann", "ann", "ann"), "limit of 4 waiting jobs for each user: ann has 2, and this submission would add 3; wait until some of them have started, or ask an administrator to raise user_limits.jobs")
		try(into("a/b/c"), "limit of 3 pools for each user: ann has 1, and this submission would add 3; use existing pools, or ask an administrator to raise user_limits.pools")
		try(into("a/b", "named/below"), "")
		try(into("ann"), "limit of 4 waiting jobs")
		try([]fairlead.Job{{User: "bob", Kind: "work", Array: "0-100"}},
			"limit of 100 waiting tasks for each user: bob has 0, and this submission would add 101")
		try([]fairlead.Job{{User: "bob", Kind: "work", Array: "0-97", Held: true}}, "")
		if _, err := loop.Intake.Submit(ctx, into("ann", "x/y/z")); err != nil {
			t.Errorf("who is not limited: %v", err)
		}
		all, err := store.Jobs(ctx, fairlead.Query{})
		if err != nil || len(all) != 7 {
			t.Errorf("%d jobs are kept, %v", len(all), err)
		}
	})
}

// TestUserLimitsKnowKeys: a job that was submitted before under its key does not count again, so no limit refuses it;
// a new job counts, whether it comes once or twice.
func TestUserLimitsKnowKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := limited(t, memory.New("cpu"), allocation.UserLimits{Jobs: 2})
		keyed := func(kind string, keys ...string) (jobs []fairlead.Job) {
			for _, k := range keys {
				jobs = append(jobs, fairlead.Job{User: "ann", Kind: kind, Key: k})
			}
			return jobs
		}
		submit := func(jobs []fairlead.Job) ([]queue.Submission, error) {
			if err := loop.Intake.CheckLimits(t.Context(), someone, jobs); err != nil {
				return nil, err
			}
			return loop.Intake.SubmitWith(t.Context(), jobs, within)
		}
		first, err := submit(keyed("work", "one"))
		if err != nil {
			t.Fatal(err)
		}
		for _, keys := range [][]string{{"one", "two", "two"}, {"one"}, {"two", "one"}} {
			subs, err := submit(keyed("work", keys...))
			if err != nil || subs[len(subs)-1].Err != nil || !subs[len(subs)-1].Existing {
				t.Fatalf("%v again: %v, %v", keys, subs, err)
			}
		}
		subs, err := submit(keyed("other", "one"))
		if err != nil || !errors.Is(subs[0].Err, fairlead.ErrKeyUsed) {
			t.Errorf("another one with the key: %v, %v", subs, err)
		}
		for _, keys := range [][]string{{"one", "new"}, {"new"}} {
			if _, err := submit(keyed("work", keys...)); !errors.Is(err, fairlead.ErrLimit) {
				t.Errorf("%v at the limit: %v", keys, err)
			}
		}
		known, err := loop.Intake.Keyed(t.Context(), append(keyed("work", "one", "new"), keyed("other", "one")...), within)
		if err != nil || known[0].ID != first[0].ID || !known[0].Existing || known[1] != (queue.Submission{}) ||
			!errors.Is(known[2].Err, fairlead.ErrKeyUsed) {
			t.Errorf("the keys stand for %+v, %v", known, err)
		}
	})
}

// TestUserLimitsFollow: started and canceled jobs do not count when the store has counted again,
// which it does not do for each submission.
func TestUserLimitsFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &counting{Store: memory.New("cpu")}
		loop := limited(t, store, allocation.UserLimits{Jobs: 50})
		ctx := t.Context()
		var ids []int64
		for range 50 {
			subs, err := loop.Intake.SubmitWith(ctx, into("ann"), within)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, subs[0].ID)
		}
		if store.times != 1 {
			t.Errorf("the store counted %d times", store.times)
		}
		for _, id := range ids[:10] {
			if err := loop.Client().Cancel(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			loop.Intake.SubmitWith(ctx, into("ann"), within)
		}
		if store.times != 1 {
			t.Errorf("the store counted %d times for one who is over the limit", store.times)
		}
		time.Sleep(time.Second)
		for i := range 11 {
			if _, err := loop.Intake.SubmitWith(ctx, into("ann"), within); (err == nil) != (i < 10) {
				t.Errorf("after ten were canceled, number %d: %v", i+1, err)
			}
		}
		time.Sleep(time.Second)
		for _, verb := range []queue.Verb{queue.VerbRequeue, queue.VerbUncancel} {
			if errs, err := loop.Intake.AlterLimited(ctx, someone, queue.Alteration{Job: ids[0], Verb: verb}); !errors.Is(err,
				fairlead.ErrLimit) {
				t.Errorf("what has ended waits again by %s: %v, %v", verb, errs, err)
			}
		}
	})
}

// TestUserLimitsCountUncanceledTasks: the waiting tasks of a job that runs on count again when their cancel is undone.
func TestUserLimitsCountUncanceledTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		loop := limited(t, store, allocation.UserLimits{Tasks: 10})
		ctx := t.Context()
		array := into("ann")
		array[0].Array = "0-7"
		subs, err := loop.Intake.SubmitWith(ctx, array, within)
		if err != nil {
			t.Fatal(err)
		}
		id := subs[0].ID
		if _, err := store.Lease(ctx, "n1", []queue.Want{{Job: id}}, time.Hour); err != nil {
			t.Fatal(err)
		}
		alter := func(a queue.Alteration) error {
			a.Job = id
			errs, err := loop.Intake.AlterLimited(ctx, someone, a)
			return errors.Join(append(errs, err)...)
		}
		if err := alter(queue.Alteration{Verb: queue.VerbCancel, Waiting: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := alter(queue.Alteration{Verb: queue.VerbUncancel}); err != nil {
			t.Errorf("within the limit: %v", err)
		}
		if err := alter(queue.Alteration{Verb: queue.VerbCancel, Waiting: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		array[0].Array = "0-5"
		if _, err := loop.Intake.SubmitWith(ctx, array, within); err != nil {
			t.Fatal(err)
		}
		if err := alter(queue.Alteration{Verb: queue.VerbUncancel}); !errors.Is(err, fairlead.ErrLimit) {
			t.Errorf("beyond the limit: %v", err)
		}
	})
}

// TestUserLimitsOfPools: pools that a user made count after a restart as well, pools that a move makes count, and pools
// that the configuration names by now no longer count.
func TestUserLimitsOfPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, limits, ctx := memory.New("cpu"), allocation.UserLimits{Pools: 3}, t.Context()
		loop := limited(t, store, limits)
		subs, err := loop.Intake.SubmitWith(ctx, into("p0", "p1"), within)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := loop.Intake.SubmitWith(ctx, []fairlead.Job{{User: "bob", Kind: "work", Pool: "q"}}, within); err != nil {
			t.Fatal(err)
		}
		again := limited(t, store, limits)
		move := func(pool string) error {
			a := queue.Alteration{Job: subs[0].ID, Verb: queue.VerbMove, Pool: pool}
			_, err := again.Intake.AlterLimited(ctx, someone, a)
			return err
		}
		if _, err := again.Intake.SubmitWith(ctx, into("p2", "p3"), within); !errors.Is(err, fairlead.ErrLimit) {
			t.Errorf("two more: %v", err)
		}
		if err := move("x/y"); !errors.Is(err, fairlead.ErrLimit) {
			t.Errorf("a move to two: %v", err)
		}
		if err := move("q"); err != nil {
			t.Errorf("a move to that of another user: %v", err)
		}
		if err := move("p2"); err != nil {
			t.Errorf("a move to one: %v", err)
		}
		if _, err := again.Intake.SubmitWith(ctx, into("p3"), within); !errors.Is(err, fairlead.ErrLimit) {
			t.Errorf("a fourth: %v", err)
		}
		near, err := again.Intake.UsersNearLimits(ctx, 0.8)
		if err != nil || len(near) != 1 || near[0].User != "ann" ||
			near[0].Description != "3 of 3 pools (user_limits.pools)" {
			t.Errorf("near: %+v, %v", near, err)
		}
		shares := fairlead.DefaultShares()
		shares.Users = limits
		shares.Sched.Root.Pools = []share.Pool{{Name: "p1", Weight: 1}}
		if err := again.Configure(ctx, shares); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Intake.SubmitWith(ctx, into("p3"), within); err != nil {
			t.Errorf("when one has a name: %v", err)
		}
	})
}

// TestUserLimitsAtOnce: submissions at the same time cannot exceed a limit together.
func TestUserLimitsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := limited(t, memory.New("cpu"), allocation.UserLimits{Jobs: 10, Pools: 5})
		took := make(chan bool)
		for i := range 40 {
			go func() {
				_, err := loop.Intake.SubmitWith(t.Context(), into(fmt.Sprint("p", i%20), "ann"), within)
				took <- err == nil
			}()
		}
		n := 0
		for range 40 {
			if <-took {
				n++
			}
		}
		jobs, err := loop.Client().Jobs(t.Context(), fairlead.Query{})
		pools := map[string]bool{}
		for _, j := range jobs {
			pools[j.Pool] = true
		}
		if err != nil || n == 0 || len(jobs) != 2*n || len(jobs) > 10 || len(pools) > 5 {
			t.Errorf("%d were taken with %d jobs in %d pools, %v", n, len(jobs), len(pools), err)
		}
	})
}
