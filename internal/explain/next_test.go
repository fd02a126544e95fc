package explain_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/queue"
)

// TestNextNamesTheMissingResource: the reason of a job that waits for GPUs names these, not processors that others use
// or that are free.
func TestNextNamesTheMissingResource(t *testing.T) {
	for _, x := range []struct {
		cpu, gpu int64 // of the running task
		want     string
	}{
		{1, 1, "it asks for 1 cpu, 2 gpu on one node, and only 1 of 2 gpu are free; it starts when enough of them are"},
		{4, 2, "it asks for 1 cpu, 2 gpu on one node, and all 2 gpu are in use; it starts when enough of them are free"},
		{4, 0, "all 4 cpu are in use by 1 task; it starts when enough of them are free"},
	} {
		synctest.Test(t, func(t *testing.T) {
			loop, stop := enginetest.Start(t, engine.LoopOptions{Shares: fairlead.DefaultShares()}, 0, nil)
			defer stop()
			has := queue.Amounts{"cpu": 4, "gpu": 2, queue.HandlerPrefix + "work": queue.AnyNumber}
			if _, err := loop.Join(t.Context(), "g1", has, engine.NodeInfo{}, idler{}, nil); err != nil {
				t.Fatal(err)
			}
			next := func(cpu, gpu int64) int64 {
				id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Request: queue.Amounts{"cpu": cpu, "gpu": gpu}})[0]
				time.Sleep(time.Second)
				return id
			}
			next(x.cpu, x.gpu)
			if a := ask(t, loop, next(1, 2)); a.Reason.Text != "it is next; "+x.want {
				t.Errorf("beside a task with %d cpu and %d gpu why says\n%s\nwant\n%s", x.cpu, x.gpu, a.Reason.Text, x.want)
			}
		})
	}
}
