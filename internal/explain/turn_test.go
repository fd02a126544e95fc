package explain_test

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
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// TestQueueAgreesWithWhyOnWhoIsNext: two wide jobs of different pools wait, with narrow jobs before and behind them.
// Only the job of rank 1 is told that it is next. A job is told that it waits behind others of its pool only if that is
// true. queue and why give the same kind of reason. why counts jobs, not their tasks.
func TestQueueAgreesWithWhyOnWhoIsNext(t *testing.T) {
	for _, backfill := range []sched.Backfill{sched.EASY, sched.Conservative, sched.FirstFit, sched.FCFS} {
		t.Run(backfill.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { agreeOnNext(t, backfill) })
		})
	}
}

func agreeOnNext(t *testing.T, backfill sched.Backfill) {
	o := engine.LoopOptions{Shares: enginetest.Shares(t, "pools: {a: {weight: 1}, b: {weight: 1}, c: {weight: 1}}")}
	o.Shares.Sched.Backfill = backfill
	loop, stop := enginetest.StartNodes(t, o, []int{4, 4}, enginetest.Lasting)
	defer stop()
	one := func(j fairlead.Job) int64 {
		id := enginetest.Submit(t, loop, j)[0]
		time.Sleep(100 * time.Millisecond)
		return id
	}
	for range 4 {
		one(fairlead.Job{User: "ann", Pool: "a", Payload: []byte("40s")})
	}
	for i := range 4 {
		one(fairlead.Job{User: "ann", Pool: "a", Payload: fmt.Appendf(nil, "%ds", 10+i)})
	}
	wide := fairlead.Job{User: "bob", Pool: "b", Gang: 2, Spread: true, Request: fairlead.Amounts{"cpu": 4},
		Payload: []byte("10s")}
	ids := []int64{one(wide)}
	wide.User, wide.Pool, wide.Limit = "eve", "c", 10*time.Second
	ids = append(ids, one(wide))
	ids = append(ids, one(fairlead.Job{User: "eve", Pool: "c", Array: "1-3", Request: fairlead.Amounts{"cpu": 3},
		Payload: []byte("10s")}))
	ids = append(ids, one(fairlead.Job{User: "ann", Pool: "a", Array: "1-3", Payload: []byte("20s")}))
	ids = append(ids, one(fairlead.Job{User: "ann", Pool: "a", Payload: []byte("20s")}))
	for range 12 {
		time.Sleep(time.Second)
		synctest.Wait()
		short := explain.New(loop).ShortReasons(t.Context(), enginetest.Jobs(t, loop, ids...))
		for _, id := range ids {
			a := ask(t, loop, id)
			if a.Rank == nil || short[id].Rank != a.Rank.Position {
				continue // it has started
			}
			compareTurn(t, id, short[id], a)
		}
	}
}

// compareTurn compares the reason of a waiting job in queue with the answer of why.
func compareTurn(t *testing.T, id int64, r explain.ShortReason, a *why.Answer) {
	t.Helper()
	own := false
	for _, x := range a.Ahead {
		own = own || x.Own
	}
	switch {
	case strings.Contains(r.Text, "next") && r.Rank != 1,
		strings.Contains(a.Reason.Text, "is next") && r.Rank != 1,
		strings.HasPrefix(r.Text, "other jobs of its pool") && !own,
		r.Code == why.ShareBehind && a.Reason.Code != r.Code && a.Reason.Code != why.OrderBehind,
		strings.Contains(a.Reason.Text, "task of other"), strings.Contains(a.Reason.Text, "tasks of other"):
		t.Errorf("queue says of job %d, of rank %d, %s %q, and why\n%s", id, r.Rank, r.Code, r.Text, a.Text())
	}
	if n := a.Rank.Jobs; strings.HasPrefix(a.Reason.Text, "it is behind") && a.Reason.Code == why.ShareBehind &&
		!strings.Contains(a.Reason.Text, fmt.Sprintf("behind %d job", n)) {
		t.Errorf("job %d has %d jobs before it: %s", id, n, a.Reason.Text)
	}
}
