// Package enginetest runs an engine in a test: on a store in memory, in virtual time, with nodes whose tasks are
// handlers of the test. The tests of the engine share it with the tests of the packages above it that read its state,
// so that each test is beside the code that it tests.
//
// It uses the engine, the jobs of package queue and the configuration of shares. It must not import packages that read
// the state of an engine, such as explain and history: their tests attach a reader before the engine runs. Only tests
// may import it. A test of unexported parts of the engine stays beside the engine.
package enginetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// kind is the kind of the jobs that the nodes of this package run.
const kind = "work"

// Start runs an engine over an empty store in memory, whose unit is cpu, with one node named local. The node offers
// slots cpus, or one if slots is 0, and runs its tasks with the handler; without a handler there is no node. Each
// function in the list before is called with the engine before the engine runs. Start returns when all goroutines wait,
// so call it inside synctest.Test. The returned function ends the engine and the node and waits for both. Errors of the
// engine and the node fail the test.
func Start(t testing.TB, o engine.LoopOptions, slots int, h engine.HandlerFunc, before ...func(*engine.Loop)) (
	loop *engine.Loop, stop func(),
) {
	t.Helper()
	return StartOn(t, memory.New("cpu"), o, slots, h, before...)
}

// StartOn is Start over an existing store: one that earlier engines used, or one with special behavior. The store stays
// open.
func StartOn(t testing.TB, store queue.Store, o engine.LoopOptions, slots int, h engine.HandlerFunc,
	before ...func(*engine.Loop),
) (loop *engine.Loop, stop func()) {
	t.Helper()
	if h == nil {
		return begin(t, store, o, nil, before)
	}
	return begin(t, store, o, []engine.WorkOptions{works("local", slots, h)}, before)
}

// StartNodes is Start with several nodes, named n0, n1 and so on: slots has the number of cpus of each.
func StartNodes(t testing.TB, o engine.LoopOptions, slots []int, h engine.HandlerFunc, before ...func(*engine.Loop)) (
	loop *engine.Loop, stop func(),
) {
	t.Helper()
	var nodes []engine.WorkOptions
	for i, n := range slots {
		nodes = append(nodes, works(fmt.Sprint("n", i), n, h))
	}
	return begin(t, memory.New("cpu"), o, nodes, before)
}

func works(name string, slots int, h engine.HandlerFunc) engine.WorkOptions {
	return engine.WorkOptions{Name: name, Slots: slots, Handlers: map[string]engine.Handler{kind: h}}
}

func begin(t testing.TB, store queue.Store, o engine.LoopOptions, nodes []engine.WorkOptions,
	before []func(*engine.Loop),
) (*engine.Loop, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	loop, err := engine.NewLoop(ctx, store, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range before {
		f(loop)
	}
	var group sync.WaitGroup
	group.Go(func() {
		if err := loop.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for _, node := range nodes {
		group.Go(func() {
			if err := loop.Work(ctx, node); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait() // the nodes join in this order
	}
	synctest.Wait()
	return loop, func() { cancel(); group.Wait() }
}
