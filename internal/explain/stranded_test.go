package explain_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
)

// TestStranded: a drained node strands the jobs that are too wide for the other nodes, and gangs that need it, but not
// jobs that no node could ever run.
func TestStranded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := enginetest.StartNodes(t, engine.LoopOptions{}, []int{4, 2}, enginetest.Endless)
		defer stop()
		job := func(cpu int64) fairlead.Job {
			return fairlead.Job{User: "ann", Request: fairlead.Amounts{"cpu": cpu}}
		}
		gang := job(2)
		gang.Gang, gang.Spread, gang.Tasks = 2, true, 2
		enginetest.Submit(t, loop, job(4), job(2)) // these run
		time.Sleep(time.Second)
		enginetest.Submit(t, loop, job(4), job(3), job(2), gang)
		time.Sleep(time.Second)
		nodes := engine.Read(loop, func(s *engine.State) (names []string) {
			for _, n := range s.Core.Cluster().Nodes() {
				names = append(names, n.Name)
			}
			return names
		})
		for i, want := range []int{3, 1} {
			got := engine.Read(loop, func(s *engine.State) int { return explain.Stranded(s, nodes[i]) })
			if got != want {
				t.Errorf("%s strands %d jobs, want %d", nodes[i], got, want)
			}
		}
		if err := loop.Overrides.SetDrained(t.Context(), nodes[0], &engine.Drain{Reason: "repair"}, "", ""); err != nil {
			t.Fatal(err)
		}
		for _, node := range []string{nodes[0], "nowhere"} {
			if got := engine.Read(loop, func(s *engine.State) int { return explain.Stranded(s, node) }); got != 0 {
				t.Errorf("%s, which takes no tasks, strands %d jobs", node, got)
			}
		}
	})
}
