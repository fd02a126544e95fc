package engine_test

import (
	"context"
	"sync"
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

// runOn runs a watched loop on a store until the returned function is called.
func runOn(t *testing.T, store fairlead.Store, o engine.LoopOptions) (
	ctx context.Context, loop *engine.Loop, stop func(),
) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	loop, err := newLoop(ctx, store, o)
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() { loop.Run(ctx) })
	return ctx, loop, func() { cancel(); ended.Wait() }
}

// start is enginetest.Start for a loop that is watched.
func start(t *testing.T, o engine.LoopOptions, slots int, h engine.HandlerFunc) (*engine.Loop, func()) {
	t.Helper()
	return enginetest.Start(t, o, slots, h, watch)
}
