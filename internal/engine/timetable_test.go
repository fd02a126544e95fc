package engine_test

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/share"
)

// TestTimetable: one replay for all says of each job what a replay of its own does, and the
// list of starts agrees with the room that is kept.
func TestTimetable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, one, began, stop := backfilled(t, share.Pool{Policy: "fifo"})
		defer stop()
		var ids []int64
		for i := range 30 {
			ids = append(ids, one(fairlead.Job{User: fmt.Sprint("u", i%4), Request: fairlead.Amounts{"cpu": int64(1 + i%4)}, Limit: time.Duration(11+7*(i%9)) * time.Minute}))
		}
		table := forecast.New(loop).Timetable(t.Context())
		for _, id := range ids {
			by, known := table.By(id)
			if a := ask(t, loop, id); !known || a.Start == nil || a.Start.By == nil || !a.Start.By.Equal(by) {
				t.Errorf("job %d starts by %v, %v by the timetable; by itself %+v", id, by, known, a.Start)
			}
		}
		jobs, err := loop.Client().Jobs(t.Context(), fairlead.Query{})
		if err != nil {
			t.Fatal(err)
		}
		starts := forecast.New(loop).Starts(t.Context(), jobs)
		if len(starts) != len(ids)+1 || starts[2] != (forecast.Coming{By: began.Add(10 * time.Minute), Kept: true}) {
			t.Errorf("%d starts are known, of the wide job %+v", len(starts), starts[2])
		}
	})
}

// TestPlaceAmongMany: where much waits the place of a job comes from the order that all share,
// and is the same as by a preview of its own.
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
