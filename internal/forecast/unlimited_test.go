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
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// TestLatestStartsAmongTasksWithoutALimit: a third of the jobs, which have different widths, has no time limit. why and
// queue name a latest start only if the job then starts by it. Most jobs have none, and why gives the reason.
func TestLatestStartsAmongTasksWithoutALimit(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { mixedLimits(t, seed) })
		})
	}
}

func mixedLimits(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 31))
	o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
	o.Shares.Sched.Backfill, o.Shares.Sched.Root = sched.EASY, share.Pool{Policy: "fifo"}
	loop, stop := enginetest.StartNodes(t, o, []int{4, 4}, enginetest.Lasting, watch)
	defer stop()
	began, told, unknown := time.Now(), map[int64]time.Time{}, 0
	var ids []int64
	for range 60 {
		lasts := time.Duration(1+rng.IntN(30)) * time.Second
		j := fairlead.Job{User: fmt.Sprint("u", rng.IntN(3)), Payload: fmt.Append(nil, lasts),
			Request: fairlead.Amounts{"cpu": 1 + rng.Int64N(4)}}
		if rng.IntN(4) == 0 {
			j.Gang, j.Spread = 2, true
		}
		if rng.IntN(3) > 0 {
			j.Limit = lasts + time.Nanosecond // if it ended earlier, other jobs could pass
		}
		ids = append(ids, enginetest.Submit(t, loop, j)...)
		time.Sleep(time.Duration(rng.IntN(8000)) * time.Millisecond)
	}
	for range 3 {
		table := forecast.New(loop).Timetable(t.Context())
		for _, id := range ids {
			a := ask(t, loop, id)
			if a.Subject.State != "waiting" || a.Start == nil {
				continue
			}
			if by, known := table.By(id); known {
				tell(told, id, by)
			}
			if a.Start.By != nil {
				tell(told, id, *a.Start.By)
			} else if unknown++; a.Start.Text == "" || a.Reason.Code == why.StateRunning {
				t.Errorf("job %d has no latest start, and no reason for that:\n%s", id, a.Text())
			}
		}
		time.Sleep(20 * time.Second)
	}
	time.Sleep(time.Hour)
	for id, by := range told {
		if j, err := loop.Client().Job(t.Context(), id); err != nil || j.Started.After(by) {
			t.Errorf("job %d was to start at %v at the latest, and started at %v", id, by.Sub(began), j.Started.Sub(began))
		}
	}
	if unknown < 10 {
		t.Errorf("only %d starts had no latest instant", unknown)
	}
}

// tell records the earliest of the latest starts of a job.
func tell(told map[int64]time.Time, id int64, by time.Time) {
	if had, known := told[id]; !known || by.Before(had) {
		told[id] = by
	}
}
