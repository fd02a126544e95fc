package bridge_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
	"github.com/fairlead/fairlead/internal/environ"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

func work(pool, units string) api.Spec {
	return api.Spec{Pool: pool, Env: map[string]string{environ.Work: units}}
}

// TestAtOnce checks that all jobs are in the QS at once, each where the book puts it, and that the server
// gets all facts about their ends.
func TestAtOnce(t *testing.T) {
	r := newRig(t, time.Minute)
	r.gate("hold")
	r.start(groups)
	hold := r.submit("hold", work("physics", "4"))
	r.inQS(1)
	r.until("running", func() bool { return len(r.qs.Started()) == 1 })
	r.until("told", func() bool { return bridgedAs(t, r, hold) == why.BridgedRunning })
	var ids []int64
	for i, s := range []struct{ pool, place string }{
		{"physics", "back"}, {"biology/env", "front"}, {"daq", "above"}, {"chemistry", "back"}, {"biology", "front"},
		{"biology", "back"},
	} {
		id := r.submit(s.pool, work(s.pool, "2"))
		ids = append(ids, id)
		r.inQS(2 + i)
		r.until("told", func() bool { return bridgedAs(t, r, id) == why.BridgedPending })
		b := answer(t, r, id).Bridged[0]
		if b.Place != s.place {
			t.Errorf("job %d of %s is at the %s: %s", id, s.pool, b.Place, b.Text)
		}
		var d frontback.Decision
		if err := json.Unmarshal(b.Decision, &d); err != nil || !why.Verified(frontback.Verify(&d)) || d.Job != id {
			t.Errorf("decision %s: %v", b.Decision, err)
		}
	}
	r.open("hold")
	for _, id := range append(ids, hold) {
		j := r.ends(id, "succeeded")
		if j.Job.Bridged != nil {
			t.Errorf("job %d has ended and is in the QS: %+v", id, j.Job.Bridged)
		}
		if cpu := j.Tasks[0].CPUSeconds; cpu != 10 {
			t.Errorf("job %d used %v", id, cpu)
		}
	}
	want := []string{"hold", "daq", "biology/env", "biology", "physics", "chemistry", "biology"}
	for i, m := range r.qs.Started() {
		for _, s := range r.qs.Submissions() {
			if s.Marker == m && s.Job.Name != want[i] {
				t.Errorf("as number %d ran %s, want %s", i, s.Job.Name, want[i])
			}
		}
	}
	r.markersDiffer()
	log, err := r.Jobs.Log(t.Context(), hold, url.Values{})
	if err != nil || string(log.Data) != "output of hold\n" {
		t.Errorf("its output is %+v, %v", log, err)
	}
}

func answer(t *testing.T, r *rig, id int64) *why.Answer {
	t.Helper()
	a, err := r.Jobs.Why(t.Context(), id, explain.WhyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// bridgedAs returns the phase in the QS of the only task of a job, as the server knows it.
func bridgedAs(t *testing.T, r *rig, id int64) string {
	t.Helper()
	if b := answer(t, r, id).Bridged; len(b) == 1 {
		return b[0].Phase
	}
	return ""
}

// TestJustInTime checks that the QS never has more jobs than slots, and gets them in the server's order.
func TestJustInTime(t *testing.T) {
	r := newRig(t, time.Minute)
	for _, name := range []string{"a", "b"} {
		r.gate(name)
	}
	r.qs.Slots = 2
	r.start(func(o *bridge.Options) { o.Slots, o.Level = 2, 5 })
	first := []int64{r.submit("a", api.Spec{Pool: "physics"}), r.submit("b", api.Spec{Pool: "physics"})}
	r.inQS(2)
	last := r.submit("c", api.Spec{Pool: "physics"})
	before := r.submit("d", api.Spec{Pool: "biology"})
	r.open("a")
	r.ends(before, "succeeded")
	r.ends(last, "succeeded")
	r.open("b")
	for _, id := range first {
		r.ends(id, "succeeded")
	}
	all := r.qs.Submissions()
	if all[2].Job.Name != "d" || all[2].Priority != 5 {
		t.Errorf("after the first two came %s, with the priority %d", all[2].Job.Name, all[2].Priority)
	}
}

// TestLostReply checks that the bridge finds a submission whose reply was lost, and does not repeat it.
func TestLostReply(t *testing.T) {
	r := newRig(t, time.Minute)
	r.setFault("submit+", bridgetest.ErrAway)
	r.start(groups)
	id := r.submit("a", api.Spec{Pool: "physics"})
	r.until("submitted", func() bool { return len(r.qs.Submissions()) > 0 })
	r.setFault("submit+", nil)
	r.ends(id, "succeeded")
	if n := len(r.qs.Submissions()); n != 1 {
		t.Errorf("%d submissions of one job", n)
	}
}

// TestNotArrived checks that the bridge repeats a submission that did not arrive, with the same marker.
func TestNotArrived(t *testing.T) {
	r := newRig(t, time.Minute)
	r.setFault("submit", bridgetest.ErrAway)
	r.start(groups)
	id := r.submit("a", api.Spec{Pool: "physics"})
	r.until("told", func() bool {
		return bridgedAs(t, r, id) == why.BridgedUnsure || bridgedAs(t, r, id) == why.BridgedSending
	})
	r.setFault("submit", nil)
	r.ends(id, "succeeded")
}

// TestForgets checks that the bridge resubmits a job that the QS forgot, with a new marker, and reports that.
func TestForgets(t *testing.T) {
	r := newRig(t, time.Minute)
	r.gate("a")
	r.start(groups)
	id := r.submit("a", api.Spec{Pool: "physics"})
	old := r.inQS(1)[0].Marker
	r.until("told", func() bool { return bridgedAs(t, r, id) == why.BridgedRunning })
	r.qs.Lose(old)
	r.until("again", func() bool { all := r.qs.Submissions(); return len(all) == 1 && all[0].Marker != old })
	r.until("told", func() bool {
		b := answer(t, r, id).Bridged
		return len(b) == 1 && b[0].Forgot == 1
	})
	if text := answer(t, r, id).Text(); !strings.Contains(text, "fake forgot it 1 times; it was submitted again") {
		t.Errorf("why says\n%s", text)
	}
	r.open("a")
	r.ends(id, "succeeded")
}

// TestCancel checks that a job that is canceled at the server leaves the QS, whether it waits or runs there,
// and that a job that is canceled in the QS becomes cancelled at the server.
func TestCancel(t *testing.T) {
	r := newRig(t, time.Minute)
	r.gate("runs")
	r.start(groups)
	runs := r.submit("runs", api.Spec{Pool: "physics"})
	r.until("runs", func() bool { return len(r.qs.Started()) == 1 })
	waits := r.submit("waits", api.Spec{Pool: "physics"})
	r.inQS(2)
	resp, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{waits, runs}})
	if err != nil || resp.Results[0] != nil || resp.Results[1] != nil {
		t.Fatal(resp, err)
	}
	for _, id := range []int64{waits, runs} {
		r.ends(id, "cancelled")
	}
	if n := len(r.qs.Started()); n != 1 {
		t.Errorf("%d jobs started", n)
	}
	// Somebody else cancels one in the QS.
	r.gate("other")
	other := r.submit("other", api.Spec{Pool: "physics"})
	marker := r.inQS(3)[2].Marker
	if err := r.qs.Adapter().Cancel(t.Context(), []bridge.Entry{{Marker: marker}}); err != nil {
		t.Fatal(err)
	}
	r.ends(other, "cancelled")
}

// TestRetry checks that each retry of a failed task is a submission of its own.
func TestRetry(t *testing.T) {
	r := newRig(t, time.Minute)
	r.start(groups)
	id := r.submit("fails", api.Spec{Pool: "physics", Argv: []string{"false"}, Retries: 2, BackoffSeconds: 0.01})
	j := r.ends(id, "failed")
	if len(r.inQS(3)) != 3 || j.Tasks[0].ExitCode != 1 {
		t.Errorf("%+v", j.Tasks)
	}
	r.markersDiffer()
}

// TestGangIsRefused checks that a bridge refuses a gang: its tasks would not start at the same moment.
func TestGangIsRefused(t *testing.T) {
	r := newRig(t, time.Minute)
	r.start(groups)
	j := r.ends(r.submit("gang", api.Spec{Pool: "physics", Gang: 3}), "failed")
	if !strings.Contains(j.Job.Cause, "a bridge takes no gangs") {
		t.Errorf("its cause is %q", j.Job.Cause)
	}
}

// TestInvalid checks that a job that the QS never takes fails, with the reason.
func TestInvalid(t *testing.T) {
	r := newRig(t, time.Minute)
	r.start(func(o *bridge.Options) { groups(o); o.QS = refusing{o.QS} })
	j := r.ends(r.submit("a", api.Spec{Pool: "physics", Retries: 5}), "failed")
	if !strings.Contains(j.Job.Cause, "fake refuses it: no partition") {
		t.Errorf("its cause is %q", j.Job.Cause)
	}
}

var errPartition = errors.Join(errors.New("no partition"), queue.ErrInvalid)
