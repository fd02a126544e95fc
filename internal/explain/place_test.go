package explain_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// TestAnswersAreOfOneInstant: if thousands of jobs wait, the place of a job comes from a shared order, which may be
// older. Even so, the pool whose task is next to start goes first by the numbers of the same answer.
func TestAnswersAreOfOneInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root.Policy = "deficit"
		for i := range 12 {
			o.Shares.Sched.Root.Pools = append(o.Shares.Sched.Root.Pools,
				share.Pool{Name: fmt.Sprint("p", i), Weight: float64(1 + i)})
		}
		loop, stop := start(t, o, 12, func(_ context.Context, l *fairlead.Lease) error {
			time.Sleep(time.Duration(1+l.JobID%7) * 700 * time.Millisecond)
			return nil
		})
		defer stop()
		var jobs []fairlead.Job
		for i := range 4200 {
			jobs = append(jobs, fairlead.Job{User: "ann", Pool: fmt.Sprint("p", i%12)})
		}
		ids := enginetest.Submit(t, loop, jobs...)
		answers := 300
		if testing.Short() {
			answers = 30
		}
		for i := range answers {
			time.Sleep(50 * time.Millisecond)
			a, err := forecast.New(loop).Why(t.Context(), ids[len(ids)-1-i%12], explain.WhyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			first, next := a.Levels[0].Children[0].Name, a.Ahead[0].Pool
			if first != next {
				t.Fatalf("answer %d says that %s goes first, and that a task of %s starts next\n%s", i, first,
					next, a.Text())
			}
			if behind := a.Reason.Code == why.ShareBehind; behind != (a.Levels[0].Before > 0) {
				t.Fatalf("answer %d: reason %s\n%s", i, a.Reason.Text, a.Text())
			}
		}
	})
}

// TestAheadCountsPoolsOnce: jobs of several priorities in a pool are listed by name, and count as one pool. That holds
// for few jobs, and for thousands of jobs, whose places come from the shared order.
func TestAheadCountsPoolsOnce(t *testing.T) {
	for _, each := range []int{2, 300} {
		t.Run(fmt.Sprint(each), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { aheadCountsPoolsOnce(t, each) })
		})
	}
}

func aheadCountsPoolsOnce(t *testing.T, each int) {
	o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
	for _, name := range []string{"a", "b", "c", "d"} {
		o.Shares.Sched.Root.Pools = append(o.Shares.Sched.Root.Pools, share.Pool{Name: name, Weight: 1})
	}
	loop, stop := start(t, o, 1, enginetest.Endless)
	defer stop()
	var jobs []fairlead.Job
	for range each {
		for _, pool := range []string{"a", "b", "c", "d"} {
			for _, priority := range []string{"very_high", "high", "normal", "low"} {
				jobs = append(jobs, fairlead.Job{User: "ann", Pool: pool, Priority: priority})
			}
		}
	}
	enginetest.Submit(t, loop, jobs...)
	last := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "d", Priority: "low"})[0]
	synctest.Wait()
	a, err := forecast.New(loop).Why(t.Context(), last, explain.WhyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Rank.Pools != 4 || len(a.Ahead) != 16 {
		t.Errorf("%d lines of %d pools, want 16 of 4", len(a.Ahead), a.Rank.Pools)
	}
	lines := map[string]bool{}
	for _, x := range a.Ahead {
		if lines[x.Pool+x.Priority] || x.Priority == "" || x.Own != (x.Pool == "d" && x.Priority == "low") {
			t.Errorf("%+v", x)
		}
		lines[x.Pool+x.Priority] = true
	}
	for _, want := range []string{"jobs of 4 pools, ", " (very_high) ", "… and 8 more, of "} {
		if !strings.Contains(a.Text(), want) {
			t.Errorf("%q is missing:\n%s", want, a.Text())
		}
	}
}

// TestPlaceAmongMany: if many jobs wait, the place of a job comes from the shared order, and equals the place in a
// preview of its own.
func TestPlaceAmongMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shares := enginetest.Shares(t, "pools: {a: {weight: 3}, b: {weight: 1}, c: {weight: 2}}")
		loop, stop := start(t, engine.LoopOptions{Shares: shares}, 2, enginetest.Endless)
		defer stop()
		var ids []int64
		for i := range 9 {
			ids = append(ids, enginetest.Submit(t, loop, fairlead.Job{Pool: string(rune('a' + i%3)), Array: "1-500"},
				fairlead.Job{Pool: string(rune('a' + i%2))})...)
		}
		synctest.Wait()
		for _, id := range ids {
			shared, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			own, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Evidence: true})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(shared.Rank, own.Rank) || !reflect.DeepEqual(shared.Ahead, own.Ahead) {
				t.Errorf("job %d: %+v, and by a preview of its own %+v", id, shared.Rank, own.Rank)
			}
		}
	})
}
