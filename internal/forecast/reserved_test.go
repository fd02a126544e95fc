package forecast_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/share"
)

// TestReservedDelaysComeTrue: a maintenance causes the delays that a dry run has forecast. The dry run changes nothing.
func TestReservedDelaysComeTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, one, began, stop := backfilled(t, share.Pool{Policy: "fifo"})
		defer stop()
		starts := func(ids ...int64) (out []time.Time) {
			for _, id := range ids {
				a := ask(t, loop, id)
				if a.Start == nil || a.Start.By == nil {
					t.Fatalf("job %d has no latest start:\n%s", id, a.Text())
				}
				out = append(out, *a.Start.By)
			}
			return out
		}
		long := one(fairlead.Job{User: "bob", Name: "long", Request: fairlead.Amounts{"cpu": 4}, Limit: time.Hour})
		last := one(fairlead.Job{User: "ann", Name: "last", Request: fairlead.Amounts{"cpu": 4}, Limit: time.Hour})
		before := starts(2, long, last)
		m := engine.Reservation{Name: "fan", Nodes: []string{"local"}, From: before[1].Add(30 * time.Minute), By: "root",
			Until: before[1].Add(90 * time.Minute), Maintenance: true}
		d, err := forecast.New(loop).Reserved(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if same := starts(2, long, last); same[1] != before[1] || same[2] != before[2] {
			t.Errorf("to ask changed the starts from %v to %v", before, same)
		}
		if _, _, err := loop.Overrides.Reserve(t.Context(), m, engine.ReserveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		after := starts(2, long, last)
		if d.Later != 2 || len(d.Jobs) != 2 || d.Unknown || !after[0].Equal(before[0]) {
			t.Fatalf("%d jobs start later, from %v to %v: %+v", d.Later, before, after, d)
		}
		for i, id := range []int64{long, last} {
			x := d.Jobs[i]
			if x.Job != id || x.After == nil || !x.Before.Equal(before[1+i]) || !x.After.Equal(after[1+i]) || x.Predicted ||
				x.Name != []string{"long", "last"}[i] || x.User != []string{"bob", "ann"}[i] {
				t.Errorf("told: %+v; job %d starts at %v instead of %v (began %v)", x, id, after[1+i], before[1+i], began)
			}
		}
		if d, err = forecast.New(loop).Reserved(t.Context(), m); err != nil || d.Later != 0 {
			t.Errorf("told of the reservation that is there: %+v, %v", d, err)
		}
	})
}
