package explain_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/why"
)

// remembering is enginetest.Start with an explainer that records the reasons for which the pools wait.
func remembering(t *testing.T, o engine.LoopOptions, slots int, h engine.HandlerFunc) (
	loop *engine.Loop, ex *explain.Explainer, stop func(),
) {
	t.Helper()
	loop, stop = enginetest.Start(t, o, slots, h, func(l *engine.Loop) {
		ex = explain.New(l)
		ex.Remember()
	})
	return loop, ex, stop
}

// start is the same for a test that uses its own explainers.
func start(t *testing.T, o engine.LoopOptions, slots int, h engine.HandlerFunc) (*engine.Loop, func()) {
	t.Helper()
	loop, _, stop := remembering(t, o, slots, h)
	return loop, stop
}

// ask asks why about a job, with an estimate.
func ask(t *testing.T, loop *engine.Loop, id int64) *why.Answer {
	t.Helper()
	a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Estimate: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
