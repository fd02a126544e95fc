package explain_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// idler is an agent that never gets a task.
type idler struct{}

func (idler) Start([]*queue.Lease)     {}
func (idler) Stop([]queue.Ref, string) {}

// loses lets a node join, with a capacity, and leave at once.
func loses(t *testing.T, l *engine.Loop, name string, cpu int64) {
	t.Helper()
	capacity := queue.Amounts{"cpu": cpu, queue.HandlerPrefix + "work": queue.AnyNumber}
	m, err := l.Join(t.Context(), name, capacity, engine.NodeInfo{}, idler{}, nil)
	if err == nil {
		err = m.Leave(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestHeldUp: a lost node delays the waiting jobs that only lost nodes could run, and gangs that have no room without
// it, but not jobs that wait for a node that takes tasks. The list of nodes, and the answer to why a delayed job waits,
// give the number of delayed jobs.
func TestHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := enginetest.Start(t, engine.LoopOptions{}, 4, enginetest.Endless)
		defer stop()
		job := func(cpu int64) fairlead.Job {
			return fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": cpu}}
		}
		gang := job(2)
		gang.Gang, gang.Spread, gang.Tasks = 2, true, 2
		held := func(nodes ...string) int {
			return engine.Read(loop, explain.HeldUpIn).Jobs(func(n string) bool { return slices.Contains(nodes, n) })
		}
		enginetest.Submit(t, loop, job(4), job(3), job(4)) // one runs, and two wait for the remaining node
		time.Sleep(time.Second)
		loses(t, loop, "large", 8)
		loses(t, loop, "larger", 9)
		if n := held("large", "larger"); n != 0 {
			t.Fatalf("%d jobs are held up that can run on the other node", n)
		}
		ids := enginetest.Submit(t, loop, job(8), job(8), job(9), gang)
		time.Sleep(time.Second)
		for _, c := range []struct {
			nodes []string
			want  int
		}{
			{[]string{"large"}, 3}, {[]string{"larger"}, 4}, {[]string{"large", "larger"}, 4}, {[]string{"n"}, 0},
		} {
			if got := held(c.nodes...); got != c.want {
				t.Errorf("%v hold up %d jobs, want %d", c.nodes, got, c.want)
			}
		}
		for i, want := range []string{
			"are down: large, larger; this delays 4 waiting jobs", "", "are down: larger; this delays 4 waiting jobs",
			"while nodes are down: large, larger; this delays 4 waiting jobs",
		} {
			a := ask(t, loop, ids[i])
			if a.Verdict != why.NeedsAdmin || !strings.Contains(a.Reason.Text, want) {
				t.Errorf("job %d: %s, %q, want %q", ids[i], a.Verdict, a.Reason.Text, want)
			}
		}
		for _, n := range views.Nodes(loop) {
			if want := map[string]int{"large": 3, "larger": 4}[n.Name]; n.HoldsUp != want {
				t.Errorf("%s holds up %d jobs, want %d", n.Name, n.HoldsUp, want)
			}
		}
		last := enginetest.Submit(t, loop, job(1))[0]
		time.Sleep(time.Second)
		if got := explain.New(loop).Next(t.Context(), "", 3); !slices.Contains(got, last) || slices.Contains(got, ids[0]) {
			t.Errorf("the next to start are %v; %v cannot start", got, ids)
		}
		if got := explain.New(loop).Oldest(t.Context(), 3); !slices.Equal(got, []int64{2, 3, ids[0]}) {
			t.Errorf("the oldest jobs are %v", got)
		}
	})
}
