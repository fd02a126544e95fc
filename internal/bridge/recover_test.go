package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// refusing is a QS that refuses every submission.
type refusing struct{ bridge.QS }

func (refusing) Submit(_ context.Context, all []bridge.Submission) ([]bridge.Receipt, error) {
	out := make([]bridge.Receipt, len(all))
	for i := range out {
		out[i].Err = errPartition
	}
	return out, nil
}

// TestGoesOn checks that a bridge that is started again goes on with its entries, whether they wait, run, or
// have ended meanwhile, and that its book is unchanged.
func TestGoesOn(t *testing.T) {
	r := newRig(t, time.Minute)
	r.gate("runs")
	r.gate("ends")
	r.start(groups)
	ends := r.submit("ends", work("physics", "2"))
	r.until("started", func() bool { return len(r.qs.Started()) == 1 })
	runs := r.submit("runs", work("physics", "2"))
	waits := r.submit("waits", work("biology", "2"))
	r.inQS(3)
	r.stop()
	r.open("ends")
	r.until("started", func() bool { return len(r.qs.Started()) >= 2 })
	r.start(groups)
	r.ends(ends, "succeeded")
	r.until("told", func() bool {
		return bridgedAs(t, r, runs) == why.BridgedRunning
	})
	again := r.submit("again", work("physics", "1"))
	r.inQS(4)
	r.open("runs")
	for _, id := range []int64{runs, waits, again} {
		j := r.ends(id, "succeeded")
		if j.Tasks[0].Attempt != 1 || j.Tasks[0].Losses != 0 {
			t.Errorf("job %d: %+v", id, j.Tasks[0])
		}
	}
	r.inQS(4)
	r.markersDiffer()
}

// TestAnotherLedger checks that the server refuses a bridge with another ledger, whether the former bridge
// runs or not, unless the new one is told to take over.
func TestAnotherLedger(t *testing.T) {
	r := newRig(t, time.Minute)
	r.gate("job")
	r.start(groups)
	id := r.submit("job", work("physics", "1"))
	r.inQS(1)
	other := r.options()
	other.Dir = filepath.Join(r.dir, "other")
	for _, alive := range []bool{true, false} {
		if !alive {
			r.stop()
		}
		if err := bridge.Run(t.Context(), other); !errors.Is(err, queue.ErrState) ||
			!strings.Contains(err.Error(), "--take-over") {
			t.Errorf("the first is alive: %v; the second: %v", alive, err)
		}
	}
	r.inQS(1)
	r.start(func(o *bridge.Options) { groups(o); o.Dir, o.TakeOver = other.Dir, true })
	r.inQS(2)
	r.open("job")
	r.ends(id, "succeeded")
	r.stop()
	if err := bridge.Run(t.Context(), r.options()); !errors.Is(err, queue.ErrState) {
		t.Errorf("the first one, after another has taken over: %v", err)
	}
}

// TestLeaseRanOut checks that a bridge that was away for longer than its leases goes on with the same entries
// under new attempts, whether they have ended meanwhile or not.
func TestLeaseRanOut(t *testing.T) {
	const ttl = time.Second // a shorter lease runs out on a busy machine, and five lost leases fail the job
	r := newRig(t, ttl)
	short := func(o *bridge.Options) { groups(o); o.Lease = ttl }
	r.gate("runs")
	r.gate("ends")
	r.start(short)
	ends := r.submit("ends", work("physics", "2"))
	r.until("started", func() bool { return len(r.qs.Started()) == 1 })
	runs := r.submit("runs", work("physics", "2"))
	r.inQS(2)
	r.stop()
	r.open("ends")
	for _, id := range []int64{ends, runs} {
		if j := r.ends(id, "waiting"); len(j.Job.Bridged) > 0 { // the leases have run out
			t.Errorf("the bridge's word of an attempt that is lost: %+v", j.Job.Bridged)
		}
	}
	r.start(short)
	r.ends(ends, "succeeded")
	r.open("runs")
	if j := r.ends(runs, "succeeded"); j.Tasks[0].Attempt < 2 {
		t.Errorf("it had no new attempt: %+v", j.Tasks[0])
	}
	r.inQS(2)
}

// TestCancelledMeanwhile checks that a job that was canceled while the bridge was away leaves the QS.
func TestCancelledMeanwhile(t *testing.T) {
	const ttl = time.Second // a shorter lease runs out on a busy machine, and five lost leases fail the job
	r := newRig(t, ttl)
	short := func(o *bridge.Options) { groups(o); o.Lease = ttl }
	r.gate("runs")
	r.gate("waits") // it may start when the other one is gone, but not end
	r.start(short)
	runs := r.submit("runs", api.Spec{Pool: "physics"})
	waits := r.submit("waits", api.Spec{Pool: "physics"})
	r.inQS(2)
	r.until("started", func() bool { return len(r.qs.Started()) == 1 })
	r.stop()
	for _, id := range []int64{runs, waits} {
		r.ends(id, "waiting")
	}
	if _, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{runs, waits}}); err != nil {
		t.Fatal(err)
	}
	r.start(short)
	adapter := r.qs.Adapter()
	r.until("gone", func() bool {
		for _, s := range r.qs.Submissions() {
			st, err := adapter.Look(t.Context(), []bridge.Entry{{Marker: s.Marker}})
			if err != nil || st[0].Phase != bridge.Cancelled {
				return false
			}
		}
		return true
	})
}

// TestEverybodyAway checks that nothing is lost and nothing is submitted twice if first the QS and then the
// server does not answer for a while.
func TestEverybodyAway(t *testing.T) {
	r := newRig(t, time.Minute)
	r.gate("a")
	r.start(groups)
	a := r.submit("a", api.Spec{Pool: "physics"})
	r.inQS(1)
	for _, call := range []string{"submit", "look", "cancel", "forget"} {
		r.setFault(call, bridgetest.ErrAway)
	}
	b := r.submit("b", api.Spec{Pool: "biology"})
	r.until("told", func() bool { return bridgedAs(t, r, b) != "" })
	r.open("a")
	for _, call := range []string{"submit", "look", "cancel", "forget"} {
		r.setFault(call, nil)
	}
	r.ends(a, "succeeded")
	r.ends(b, "succeeded")
	r.inQS(2)
	r.markersDiffer()
}

// TestHeldThere checks that a hold does not reach a job that waits in the QS, and that the answer says so and
// names the command that does.
func TestHeldThere(t *testing.T) {
	r := newRig(t, time.Minute)
	r.gate("runs")
	r.start(groups)
	r.submit("runs", work("physics", "2"))
	r.until("started", func() bool { return len(r.qs.Started()) == 1 })
	id := r.submit("waits", work("physics", "2"))
	r.inQS(2)
	a, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "hold", Jobs: []int64{id}})
	if err != nil || a.Results[0] != nil || len(a.Notes) != 1 ||
		!strings.Contains(a.Notes[0], fmt.Sprint("fairlead requeue ", id)) {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "requeue", Jobs: []int64{id}}); err != nil {
		t.Fatal(err)
	}
	r.ends(id, "held")
	r.open("runs")
	r.inQS(2)
	if _, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "release", Jobs: []int64{id}}); err != nil {
		t.Fatal(err)
	}
	r.ends(id, "succeeded")
}
