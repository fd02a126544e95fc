package engine_test

import (
	"context"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
)

// watch has an explainer remember for what the pools of a loop wait, as in a server.
func watch(l *engine.Loop) { explain.New(l).Remember() }

// newLoop makes a loop that is watched.
func newLoop(ctx context.Context, store fairlead.Store, o engine.LoopOptions) (*engine.Loop, error) {
	l, err := engine.NewLoop(ctx, store, o)
	if err == nil {
		watch(l)
	}
	return l, err
}

// start is enginetest.Start for a loop that is watched.
func start(t *testing.T, o engine.LoopOptions, slots int, h engine.HandlerFunc) (*engine.Loop, func()) {
	t.Helper()
	return enginetest.Start(t, o, slots, h, watch)
}
