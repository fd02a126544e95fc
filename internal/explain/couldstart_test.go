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
	"github.com/fairlead/fairlead/queue"
)

// TestOnlyWhoCouldStartWaitedForRoom: jobs of one pool wait: one for room, the others because they are held, depend on
// a job, or begin later. Each job has the pool's lack of room as its reason only while it is the first job that could
// start. Other tasks of an array still wait after its first task has started.
func TestOnlyWhoCouldStartWaitedForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 1, enginetest.Lasting)
		defer stop()
		job := fairlead.Job{User: "ann", Pool: "ann", Payload: []byte("100s")}
		one := func(f func(*fairlead.Job)) int64 {
			j := job
			f(&j)
			return enginetest.Submit(t, loop, j)[0]
		}
		first := one(func(*fairlead.Job) {})
		array := one(func(j *fairlead.Job) { j.Array = "0-9" })
		held := one(func(j *fairlead.Job) { j.Held = true })
		after := one(func(j *fairlead.Job) { j.After = []fairlead.Dependency{{Job: first, On: queue.OnOK}} })
		never := one(func(j *fairlead.Job) { j.After = []fairlead.Dependency{{Job: held, On: queue.OnAny}} })
		begins := one(func(j *fairlead.Job) { j.Begin = time.Now().Add(200 * time.Second) })
		later := one(func(j *fairlead.Job) { j.Begin = time.Now().Add(time.Hour) })
		time.Sleep(150 * time.Second)
		alters(t, loop, queue.VerbRelease, held)
		time.Sleep(150 * time.Second)
		for name, c := range map[string]struct {
			id   int64
			want []string
		}{
			"the array":         {array, []string{"8 capacity.full", "105 order.behind"}},
			"one that was held": {held, []string{"0 hold", "150 release", "150 order.behind", "158 capacity.full"}},
			"one that waited": {after, []string{"0 gate.after", "100 eligible", "100 order.behind", "105 capacity.full",
				"158 order.behind", "202 capacity.full"}},
			"one that waits":       {never, []string{"0 gate.after"}},
			"one that began later": {begins, []string{"0 gate.begin", "200 eligible", "200 order.behind"}},
			"one that will begin":  {later, []string{"0 gate.begin"}},
		} {
			var got []string
			for _, line := range whole(t, ex, c.id) {
				if w := strings.Fields(line); strings.Contains(w[1], ".") ||
					slices.Contains([]string{"eligible", "hold", "release"}, w[1]) {
					got = append(got, w[0]+" "+w[1])
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	})
}
