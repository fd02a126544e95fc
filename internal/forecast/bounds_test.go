package forecast_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/sched"
)

// TestStartBoundsAreKept: under conservative backfilling, if no new job goes ahead, each job starts by the bound in its
// answer, however early others end.
func TestStartBoundsAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("much arithmetic, and nothing at once")
	}
	for _, full := range []bool{false, true} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("full=%v,seed=%d", full, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { keepBounds(t, full, seed) })
			})
		}
	}
}

// keepBounds submits a mix of gangs, arrays and jobs with licenses while all nodes are in use. Tasks run for a part of
// their limits, or for the whole limit.
func keepBounds(t *testing.T, full bool, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
	o.Shares.Sched.Backfill, o.Shares.Sched.Root.Policy = sched.Conservative, "fifo"
	o.Shares.Sched.Licenses = map[string]int64{"matlab": 3}
	nodes := []int{4, 4, 8, 8, 16, 8, 6, 2}
	loop, stop := enginetest.StartNodes(t, o, nodes, enginetest.Lasting, watch)
	defer stop()
	length := func(limit time.Duration) []byte {
		if full {
			return fmt.Append(nil, limit-time.Nanosecond)
		}
		return fmt.Append(nil, limit*time.Duration(10+rng.IntN(90))/100)
	}
	var ids []int64
	for range nodes {
		enginetest.Submit(t, loop, fairlead.Job{User: "root", Request: fairlead.Amounts{"cpu": 2}, Limit: time.Hour,
			Payload: length(time.Hour)})
	}
	enginetest.Submit(t, loop, fairlead.Job{User: "root", Array: "0-39", Limit: time.Hour, Payload: length(time.Hour)})
	time.Sleep(time.Second)
	for range 60 {
		j := boundedJob(rng)
		j.Payload = length(j.Limit)
		ids = append(ids, enginetest.Submit(t, loop, j)...)
	}
	time.Sleep(time.Second)
	by := map[int64]time.Time{}
	for _, id := range ids {
		a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Estimate: true, Siblings: 1})
		if err != nil || a.Subject.State == "waiting" && (a.Start == nil || a.Start.By == nil) {
			t.Fatalf("job %d: %+v, %v", id, a, err)
		}
		if a.Start != nil && a.Start.By != nil {
			by[id] = *a.Start.By
		}
	}
	time.Sleep(48 * time.Hour)
	if len(by) < 40 {
		t.Errorf("only %d jobs waited", len(by))
	}
	for _, id := range ids {
		j, err := loop.Client().Job(t.Context(), id)
		if err != nil || j.State != fairlead.Succeeded {
			t.Errorf("job %d is %s, %v", id, j.State, err)
		} else if b, told := by[id]; told && j.Started.After(b) {
			t.Errorf("job %d started %v after the bound %v", id, j.Started.Sub(b), b)
		}
	}
}

// boundedJob is a job of some kind, with a time limit.
func boundedJob(rng *rand.Rand) fairlead.Job {
	j := fairlead.Job{User: fmt.Sprint("u", rng.IntN(5)),
		Limit: time.Duration(60_000+rng.IntN(3_000_000)) * time.Millisecond}
	j.Request = fairlead.Amounts{"cpu": int64(1 + rng.IntN(4))}
	switch rng.IntN(5) {
	case 0:
		j.Gang, j.Spread = 2+rng.IntN(4), true
		j.Request["cpu"] = int64(1 + rng.IntN(3))
	case 1:
		j.Gang = 3 + rng.IntN(10)
		j.Request["cpu"] = int64(1 + rng.IntN(2))
	case 2:
		j.Array = fmt.Sprintf("1-%d", 2+rng.IntN(6))
	case 3:
		j.Licenses = fairlead.Amounts{"matlab": int64(1 + rng.IntN(2))}
	default:
		j.Request["cpu"] = int64(4 + rng.IntN(12))
	}
	return j
}
