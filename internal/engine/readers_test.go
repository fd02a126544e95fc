package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/history"
)

// The readers of the loops of the tests that remember something from the start of these on.
var explainers, recorders sync.Map

// newLoop makes a loop with an explainer that remembers for what its pools wait.
func newLoop(ctx context.Context, store fairlead.Store, o engine.LoopOptions) (*engine.Loop, error) {
	l, err := engine.NewLoop(ctx, store, o)
	if err == nil {
		ex := explain.New(l)
		ex.Remember()
		explainers.Store(l, ex)
	}
	return l, err
}

// start is enginetest.Start with such an explainer.
func start(t *testing.T, o engine.LoopOptions, slots int, h engine.HandlerFunc) (*engine.Loop, func()) {
	t.Helper()
	return enginetest.Start(t, o, slots, h, func(l *engine.Loop) {
		ex := explain.New(l)
		ex.Remember()
		explainers.Store(l, ex)
	})
}

// newRecorded is newLoop with a recorder that keeps how the pools fare.
func newRecorded(ctx context.Context, store fairlead.Store, o engine.LoopOptions) (*engine.Loop, error) {
	l, err := newLoop(ctx, store, o)
	if err == nil {
		rc := history.New(l)
		rc.Keep()
		recorders.Store(l, rc)
	}
	return l, err
}

func explainerOf(l *engine.Loop) *explain.Explainer {
	ex, _ := explainers.Load(l)
	return ex.(*explain.Explainer)
}

func recorderOf(l *engine.Loop) *history.Recorder {
	rc, _ := recorders.Load(l)
	return rc.(*history.Recorder)
}
