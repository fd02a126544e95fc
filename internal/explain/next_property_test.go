package explain_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// arrival is a job of one task, with its run time.
type arrival struct {
	pool  string
	lasts time.Duration
	after time.Duration // since the previous arrival
}

// TestTheNextJobIsTheNextToStart asks why about all waiting jobs just before each end of a task. The job that is said
// to be next is the job that starts then.
func TestTheNextJobIsTheNextToStart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.SampledFrom(nextPolicies)
		weight := rapid.Float64Range(0.5, 4)
		root := share.Pool{Policy: word.Draw(rt, "policy"), Pools: []share.Pool{
			{Name: "a", Weight: weight.Draw(rt, "a"), Policy: word.Draw(rt, "policy of a"), Pools: []share.Pool{
				{Name: "x", Weight: weight.Draw(rt, "x")}, {Name: "y", Weight: weight.Draw(rt, "y")},
			}},
			{Name: "b", Weight: weight.Draw(rt, "b")}, {Name: "c", Weight: weight.Draw(rt, "c")},
		}}
		slots := rapid.IntRange(1, 3).Draw(rt, "slots")
		all := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) arrival {
			return arrival{
				pool:  rapid.SampledFrom([]string{"a/x", "a/y", "b", "c"}).Draw(rt, "pool"),
				lasts: time.Duration(rapid.IntRange(1, 20).Draw(rt, "lasts")) * time.Second,
				after: time.Duration(rapid.IntRange(0, 3).Draw(rt, "after")) * time.Second,
			}
		}), slots+2, 14).Draw(rt, "jobs")
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = playNext(t, root, slots, all) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// nextPolicies are policies under which the end of a task does not change the order of the other jobs. Under other
// policies another job may go first a moment later: under fair the pool of an ended task loses its expected run time,
// under drf its holdings, and under load its demand; multifactor counts the usage of a task when it ends.
var nextPolicies = []string{"fifo", "decay", "fairtree"}

// playNext plays the arrivals, and returns the first contradiction between an answer and the next start.
func playNext(t *testing.T, root share.Pool, slots int, all []arrival) (wrong string) {
	var mu sync.Mutex
	var began []int64
	ends := map[int64]time.Time{}
	o := engine.LoopOptions{Shares: fairlead.DefaultShares(), Seed: 3}
	o.Shares.Sched.Root = root
	loop, stop := start(t, o, slots, func(_ context.Context, l *fairlead.Lease) error {
		lasts := all[l.JobID-1].lasts + 10*time.Microsecond<<l.JobID // no two tasks end at once
		mu.Lock()
		began, ends[l.JobID] = append(began, l.JobID), time.Now().Add(lasts)
		mu.Unlock()
		time.Sleep(lasts)
		mu.Lock()
		delete(ends, l.JobID)
		mu.Unlock()
		return nil
	})
	defer stop()
	for _, a := range all {
		time.Sleep(a.after)
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: a.pool})
		synctest.Wait()
	}
	for wrong == "" {
		mu.Lock()
		var first time.Time
		for _, at := range ends {
			if first.IsZero() || at.Before(first) {
				first = at
			}
		}
		before := slices.Clone(began)
		mu.Unlock()
		if first.IsZero() {
			return wrong
		}
		time.Sleep(time.Until(first) - time.Microsecond)
		var told []int64
		for id := int64(1); id <= int64(len(all)); id++ {
			if slices.Contains(before, id) {
				continue
			}
			a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{})
			if err != nil {
				return err.Error()
			}
			if a.Rank != nil && a.Rank.Position == 1 {
				told = append(told, id)
			}
		}
		time.Sleep(2 * time.Microsecond)
		synctest.Wait()
		mu.Lock()
		started := slices.Clone(began[len(before):])
		mu.Unlock()
		if !slices.Equal(told, started) {
			wrong = fmt.Sprintf("after the starts %v, %v is to be next, but %v started", before, told, started)
		}
	}
	return wrong
}

// TestAFalseNextIsRefused changes the job and the rank in true answers about who is next: verification refuses each.
func TestAFalseNextIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 1, enginetest.Endless)
		defer stop()
		for _, user := range []string{"ann", "bob", "cem", "bob"} {
			enginetest.Submit(t, loop, fairlead.Job{User: user})
			synctest.Wait()
		}
		for id := int64(2); id <= 4; id++ {
			answer := func(change func(*why.Answer)) bool {
				a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Evidence: true})
				if err != nil {
					t.Fatal(err)
				}
				change(a)
				return why.Verified(replay.Verify(a, policy.Rule))
			}
			if !answer(func(*why.Answer) {}) {
				t.Errorf("job %d: a true answer is refused", id)
			}
			for _, by := range []int64{-1, 1} {
				if answer(func(a *why.Answer) { a.Rank.Position += by }) {
					t.Errorf("job %d: a rank that is off by %d is not noticed", id, by)
				}
			}
			if other := 2 + (id-1)%3; answer(func(a *why.Answer) { a.Subject.Job = other }) {
				t.Errorf("job %d: its answer passes for that of job %d", id, other)
			}
		}
	})
}
