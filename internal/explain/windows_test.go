package explain_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/why"
)

// TestPoolTellsOfReservations: if a reservation keeps the only job of a pool from starting, the pool and the job give
// that reason, and the pool does not say that everything is in use.
func TestPoolTellsOfReservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{}, 2, enginetest.Endless)
		defer stop()
		r := engine.Reservation{Name: "course", Nodes: []string{"local"}, From: time.Now().Add(2 * time.Hour),
			Pools: []string{"physics"}}
		if _, _, err := loop.Overrides.Reserve(t.Context(), r, engine.ReserveOptions{Lasts: time.Hour}); err != nil {
			t.Fatal(err)
		}
		id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "idlepool", Limit: 150 * time.Minute})[0]
		synctest.Wait()
		own, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := explain.New(loop).WhyPool(t.Context(), "idlepool", 0)
		if err != nil {
			t.Fatal(err)
		}
		if own.Reason.Code != why.PolicyReservation || pool.Reason.Code != own.Reason.Code ||
			pool.Reason.Text != own.Reason.Text {
			t.Errorf("the job waits for %+v, its pool for %+v", own.Reason, pool.Reason)
		}
	})
}
