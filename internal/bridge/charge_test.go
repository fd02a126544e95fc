package bridge_test

import (
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// used returns the service that a pool has received, according to the store and to the loop.
func (r *rig) used(pool string) (store, loop float64) {
	r.t.Helper()
	u, err := r.store.(queue.Accountant).Usage(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range views.Pools(r.t.Context(), r.loop) {
		if p.Path == pool {
			loop = p.Used
		}
	}
	return u.Pools[pool].Total, loop
}

// TestWaitIsNotCharged checks that a task that waits in the QS is queued, and reported so. It is charged from
// its start in the QS to its end, and not at all if it is canceled before.
func TestWaitIsNotCharged(t *testing.T) {
	r := newRig(t, time.Minute)
	r.gate("first")
	r.start(groups)
	first := r.submit("first", work("physics", "1"))
	r.ends(first, "running")
	second, third := r.submit("second", work("biology", "1")), r.submit("third", work("daq", "1"))
	for _, id := range []int64{second, third} {
		if j := r.ends(id, "queued"); j.Job.Queued != 1 || j.Job.Started != nil || !j.Tasks[0].Queued {
			t.Errorf("while it waits there: %+v", j)
		}
	}
	r.until("told", func() bool { return bridgedAs(t, r, second) == why.BridgedPending })
	if a := answer(t, r, second); a.Reason.Code != why.StateQueued ||
		!strings.Contains(a.Reason.Text, "it was submitted to fake as ") {
		t.Errorf("why says %+v", a.Reason)
	}
	chunk, err := r.Jobs.Log(t.Context(), second, url.Values{})
	if err != nil || !strings.Contains(chunk.Later, "comes when it has ended") || chunk.Ended {
		t.Errorf("its output: %+v, %v", chunk, err)
	}
	if await.Within(300*time.Millisecond, func() bool { // the QS has a real clock only
		store, loop := r.used("biology")
		return store != 0 || loop != 0
	}) {
		t.Error("what waits was charged")
	}
	for _, c := range []int64{third} {
		if errs, err := r.loop.Client().Alter(
			t.Context(), queue.Alteration{Job: c, Verb: queue.VerbCancel, Cause: "by ann"}); err != nil || errs[0] != nil {
			t.Fatal(errs, err)
		}
		r.ends(c, "cancelled")
	}
	if store, _ := r.used("daq"); store != 0 {
		t.Errorf("what never began was charged %v", store)
	}
	r.open("first")
	j := r.ends(second, "succeeded")
	ran := j.Tasks[0].Ended.Sub(j.Tasks[0].Started).Seconds()
	if store, _ := r.used("biology"); math.Abs(store-ran) > 0.01 || ran > 0.25 {
		t.Errorf("it ran %v s and was charged %v, after 0.3 s of waiting", ran, store)
	}
}
