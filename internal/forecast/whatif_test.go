package forecast_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// TestChangesAreExact: a long job may not pass the wide one. With a time limit that ends when the room is needed it
// may, and with one more second it may not; the test really makes both changes.
func TestChangesAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, one, began, stop := backfilled(t, share.Pool{Policy: "fifo"})
		defer stop()
		long := one(fairlead.Job{User: "bob", Limit: time.Hour})
		a := ask(t, loop, long)
		if len(a.Changes) != 1 {
			t.Fatalf("changes are %+v\n%s", a.Changes, a.Text())
		}
		c := a.Changes[0]
		if left := began.Add(10 * time.Minute).Sub(a.At).Truncate(time.Second); !c.Now ||
			c.LimitSeconds != left.Seconds() || !c.Alter {
			t.Errorf("the change is %+v, want a limit of %v, and to start now", c, left)
		}
		if text := a.Text(); !strings.Contains(text, "CHANGE          alter --time 9m or less -> now") ||
			!strings.Contains(text, "ends before job 2 needs its room") {
			t.Errorf("it is told so:\n%s", text)
		}
		limit := time.Duration(c.LimitSeconds) * time.Second
		w, err := forecast.New(loop).WhatIf(t.Context(), long, forecast.Variation{Limit: &limit})
		if err != nil || !w.After.Now || w.Before.Now || w.Again || w.Seconds == nil || *w.Seconds != c.Seconds {
			t.Errorf("what if it had %v: %+v, %v", limit, w, err)
		}
		over := limit + time.Second
		if w, err = forecast.New(loop).WhatIf(t.Context(), long, forecast.Variation{Limit: &over}); err != nil ||
			w.After.Now || w.After.Reason.Code != why.FitReserved {
			t.Errorf("what if it had %v: %+v, %v", over, w, err)
		}
		later := enginetest.Submit(t, loop, fairlead.Job{User: "bob", Limit: over, Payload: []byte("1m")})[0]
		sooner := enginetest.Submit(t, loop, fairlead.Job{User: "bob", Limit: limit, Payload: []byte("1m")})[0]
		synctest.Wait()
		if enginetest.State(t, loop, later) != fairlead.Waiting ||
			enginetest.State(t, loop, sooner) != fairlead.Running {
			t.Errorf("with %v it is %s, with %v %s", over, enginetest.State(t, loop, later), limit,
				enginetest.State(t, loop, sooner))
		}
	})
}

// TestWhatIf: fewer processors, another pool, another priority, and refusals.
func TestWhatIf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := share.Pool{Policy: "fifo", Pools: []share.Pool{
			{Name: "lab", Weight: 1, Pools: []share.Pool{{Name: "ann", Weight: 1},
				{Name: "bob", Weight: 1, MaxTime: 3 * time.Hour}}},
			{Name: "spare", Weight: 1, Pools: []share.Pool{{Name: "bob", Weight: 1}}},
		}}
		loop, one, _, stop := backfilled(t, root)
		defer stop()
		wide := one(fairlead.Job{User: "bob", Pool: "lab", Request: fairlead.Amounts{"cpu": 3}, Limit: 5 * time.Minute})
		before := fmt.Sprint(lasting(views.Pools(t.Context(), loop)))
		w, err := forecast.New(loop).WhatIf(t.Context(), wide, forecast.Variation{Request: fairlead.Amounts{"cpu": 1}})
		if err != nil || !w.After.Now || len(w.Changes) != 1 ||
			w.Changes[0] != (why.Varied{Field: "cpu", From: "3", To: "1"}) {
			t.Errorf("with one processor: %+v, %v", w, err)
		}
		pool, closed := "spare", "lab/nobody"
		if w, err = forecast.New(loop).WhatIf(t.Context(), wide, forecast.Variation{Pool: &pool}); err != nil ||
			w.After.Pool != "spare/bob" || w.Seconds == nil || w.Again {
			t.Errorf("in another pool: %+v, %v", w, err)
		}
		high := "high"
		if w, err = forecast.New(loop).WhatIf(t.Context(), wide, forecast.Variation{Priority: &high}); err != nil ||
			w.Again {
			t.Errorf("with another priority: %+v, %v", w, err)
		}
		many := fairlead.Amounts{"cpu": 99}
		if w, err = forecast.New(loop).WhatIf(t.Context(), wide, forecast.Variation{Request: many}); err != nil ||
			w.After.Verdict != why.Impossible || w.Seconds != nil || !strings.Contains(w.Text(), "never starts") {
			t.Errorf("with more than there is: %+v, %v", w, err)
		}
		day, same := 24*time.Hour, 5*time.Minute
		for want, v := range map[string]forecast.Variation{
			"may have 3h":        {Limit: &day},
			"asks for that":      {Limit: &same},
			"is not a priority":  {Priority: &closed},
			"must be from 0 to ": {Request: fairlead.Amounts{"cpu": -1}},
		} {
			if _, err := forecast.New(loop).WhatIf(t.Context(), wide, v); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", v, err, want)
			}
		}
		if _, err := forecast.New(loop).WhatIf(t.Context(), 1, forecast.Variation{Limit: &day}); err == nil ||
			!strings.Contains(err.Error(), "is running") {
			t.Errorf("of a job that runs: %v", err)
		}
		if after := fmt.Sprint(lasting(views.Pools(t.Context(), loop))); after != before {
			t.Errorf("the loop itself changed:\n%s\n%s", before, after)
		}
	})
}

// TestNothingIsSoonerThanTheBegin: no change is advised that would start a job before its begin time.
func TestNothingIsSoonerThanTheBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, one, began, stop := backfilled(t, share.Pool{Policy: "fifo"})
		defer stop()
		later := one(fairlead.Job{User: "bob", Limit: time.Hour, Begin: began.Add(3 * time.Hour)})
		a := ask(t, loop, later)
		if a.Reason.Code != why.GateBegin || a.Start == nil || a.Start.By == nil || len(a.Changes) > 0 {
			t.Errorf("%+v, changes %+v\n%s", a.Reason, a.Changes, a.Text())
		}
	})
}
