package explain_test

import (
	"testing"
	"testing/synctest"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
)

const priorities = `
policy: multifactor
multifactor:
  weights: {age: 0, fairshare: 0, size: 0, qos: 100}
  qos: {high: 1}
`

// TestPrioritiesFollowTheConfiguration: the core gets new values for the priorities of jobs when the rules change, and
// when the policy begins to use priorities.
func TestPrioritiesFollowTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shares := enginetest.Shares(t, "policy: fair")
		loop, stop := start(t, engine.LoopOptions{Shares: shares}, 0, nil)
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Nice: 5}, fairlead.Job{User: "bob", Priority: "high"},
			fairlead.Job{User: "eve"})
		if got := pointsOf(t, loop); len(got) != 0 {
			t.Errorf("under fair jobs have the priorities %v", got)
		}
		for _, c := range []struct {
			config string
			want   [3]float64
			first  int64
		}{
			{priorities, [3]float64{-5, 100, 0}, 2},
			{priorities + `  site: [{user: "eve", value: 250}]`, [3]float64{-5, 100, 250}, 3},
			{priorities + `  site: [{user: "ann|eve", value: 250}]`, [3]float64{245, 100, 250}, 3},
			{priorities, [3]float64{-5, 100, 0}, 2},
		} {
			if err := loop.Configure(t.Context(), enginetest.Shares(t, c.config)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			got := pointsOf(t, loop)
			for i, want := range c.want {
				if got[int64(i+1)] != want {
					t.Errorf("%s: job %d has %v, want %v", c.config, i+1, got[int64(i+1)], want)
				}
			}
			if at := explain.New(loop).Order(t.Context()).Position[c.first]; at != 1 {
				t.Errorf("%s: job %d is number %d", c.config, c.first, at)
			}
		}
	})
}

func pointsOf(t *testing.T, loop *engine.Loop) map[int64]float64 {
	t.Helper()
	jobs, err := loop.Client().Jobs(t.Context(), fairlead.Query{})
	if err != nil {
		t.Fatal(err)
	}
	points := map[int64]float64{}
	for id, terms := range explain.New(loop).Priorities(t.Context(), jobs) {
		points[id] = -terms.Key
	}
	return points
}
