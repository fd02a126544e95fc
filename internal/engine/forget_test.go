package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/store/memory"
)

// TestForgottenNodesAreGone: a lost node that is forgotten is in no list, and can join again. A node that is up cannot
// be forgotten.
func TestForgottenNodesAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, loop, stop := runOn(t, memory.New("cpu"), engine.LoopOptions{LeaseTTL: time.Minute})
		defer stop()
		w := &deaf{}
		join := func() *engine.Member {
			t.Helper()
			m, err := loop.Join(ctx, "n1", fairlead.Amounts{"cpu": 2, "handler.work": 1 << 40}, engine.NodeInfo{}, w, nil)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		forget := func() int {
			t.Helper()
			if err := loop.Overrides.ForgetNode(ctx, "n1"); err != nil {
				t.Fatal(err)
			}
			if err := loop.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			return len(views.Nodes(loop))
		}
		m := join()
		if n := forget(); n != 1 || m.Gone() {
			t.Errorf("a node that is up is forgotten: %d nodes", n)
		}
		time.Sleep(3 * time.Minute)
		if n := forget(); n != 0 || !m.Gone() {
			t.Errorf("%d nodes after the lost one was forgotten", n)
		}
		enginetest.Submit(t, loop, fairlead.Job{User: "ann"})
		time.Sleep(time.Second)
		w.has(t, 0, "while it is forgotten")
		join()
		time.Sleep(time.Second)
		w.has(t, 1, "when it is back")
	})
}
