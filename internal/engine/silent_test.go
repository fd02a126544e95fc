package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// deaf is a worker that keeps what it is given and does nothing of its own.
type deaf struct {
	mu    sync.Mutex
	given int
}

func (d *deaf) Start(leases []*fairlead.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.given += len(leases)
}
func (d *deaf) Stop([]queue.Ref, string) {}

func (d *deaf) has(t *testing.T, want int, when string) {
	t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.given != want {
		t.Errorf("%s: the worker was given %d tasks, want %d", when, d.given, want)
	}
}

// TestLostNodesTakeNothing: a node whose worker is silent is down whatever an administrator says of it, and takes tasks
// when its worker is heard from again.
func TestLostNodesTakeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, loop, stop := runOn(t, memory.New("cpu"), engine.LoopOptions{LeaseTTL: time.Minute})
		defer stop()
		w := &deaf{}
		m, err := loop.Join(ctx, "n1", fairlead.Amounts{"cpu": 2, "handler.work": 1 << 40}, engine.NodeInfo{}, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "0-9"})
		w.has(t, 2, "at first")
		state := func(want string, drained bool, when string) {
			t.Helper()
			if n := views.Nodes(loop)[0]; n.State != want || n.Drained != drained {
				t.Errorf("%s the node is %s (drained: %t), want %s (%t)", when, n.State, n.Drained, want, drained)
			}
		}
		time.Sleep(2 * time.Minute)
		state("down", false, "after two minutes of silence")
		drain := func(d *engine.Drain) {
			t.Helper()
			if err := loop.Overrides.SetDrained(ctx, "n1", d, "", ""); err != nil {
				t.Fatal(err)
			}
		}
		drain(nil)
		state("down", false, "when a lost node is resumed")
		w.has(t, 2, "when a lost node is resumed")
		drain(&engine.Drain{Reason: "fan"})
		state("down", true, "when it is drained")
		drain(nil)
		w.has(t, 2, "when it is drained and resumed")
		drain(&engine.Drain{Reason: "switch", Maintenance: true})
		state("down", true, "in maintenance")
		renew := func() {
			t.Helper()
			if _, err := m.Renew(ctx, nil); err != nil {
				t.Fatal(err)
			}
		}
		renew()
		state("maintenance", true, "when it is heard of in maintenance")
		w.has(t, 2, "in maintenance")
		drain(nil)
		state("up", false, "when maintenance is over")
		w.has(t, 4, "when it is back")
	})
}

// TestTasksOfTheSilentRunElsewhere: the tasks of a silent worker run elsewhere as soon as their leases are over, and
// not before.
func TestTasksOfTheSilentRunElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lived(t, memory.New("cpu"), func(ctx context.Context, loop *engine.Loop) {
			lease := loop.LeaseTTL()
			look := lease / 8 // how often the loop looks for leases that are over
			join := func(node string) (*deaf, *engine.Member) {
				t.Helper()
				w, has := &deaf{}, fairlead.Amounts{"cpu": 2, "handler.work": 1 << 40}
				m, err := loop.Join(ctx, node, has, engine.NodeInfo{}, w, nil)
				if err != nil {
					t.Fatal(err)
				}
				return w, m
			}
			silent, _ := join("n1")
			enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "0-1"})
			silent.has(t, 2, "at first")
			heard, member := join("n2")
			renew := func() {
				t.Helper()
				if _, err := member.Renew(ctx, nil); err != nil {
					t.Fatal(err)
				}
			}
			for passed := time.Duration(0); passed < lease; passed += lease / 10 {
				heard.has(t, 0, fmt.Sprint("after ", passed))
				renew()
				time.Sleep(lease / 10)
			}
			renew()
			time.Sleep(look)
			heard.has(t, 2, "a look after the leases ended")
		})
	})
}
