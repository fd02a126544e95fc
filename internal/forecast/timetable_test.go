package forecast_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/share"
)

// TestTimetable: one replay for all jobs gives the same start for each job as a separate replay, and the list of starts
// agrees with the planned starts.
func TestTimetable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, one, began, stop := backfilled(t, share.Pool{Policy: "fifo"})
		defer stop()
		var ids []int64
		for i := range 30 {
			ids = append(ids, one(fairlead.Job{User: fmt.Sprint("u", i%4),
				Request: fairlead.Amounts{"cpu": int64(1 + i%4)}, Limit: time.Duration(11+7*(i%9)) * time.Minute}))
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
