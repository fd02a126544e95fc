package bridge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/queue"
)

// into starts a bridge of r whose queueing system is the server of other.
func (r *rig) into(other *rig, name string) {
	r.t.Helper()
	q, err := queue.Open(queue.Options{Address: other.Address, Pool: "bridged"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.start(func(o *bridge.Options) { groups(o); o.QS, o.Name, o.System = q, name, "the queue of "+name })
	r.t.Cleanup(func() { r.stop(); q.Close() })
}

// jobs returns the jobs of a server.
func (r *rig) jobs() []api.Job {
	r.t.Helper()
	list, err := r.Jobs.List(r.t.Context(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return list.Jobs
}

// TestIntoItself checks a bridge whose QS is the server that it serves: it refuses jobs that it has submitted
// itself, and does not submit them again and again.
func TestIntoItself(t *testing.T) {
	r := newRig(t, time.Minute)
	r.into(r, "mirror")
	j := r.ends(r.submit("job", api.Spec{Pool: "physics"}), "failed")
	if !strings.Contains(j.Tasks[0].Cause, "the bridge itself has submitted this job") ||
		!strings.Contains(j.Tasks[0].Cause, "--to") {
		t.Errorf("%+v", j.Tasks[0])
	}
	if all := r.jobs(); len(all) > 2 {
		t.Errorf("%d jobs", len(all))
	}
}

// TestRing checks two servers, each with a bridge into the other: a job goes round once, and then fails with
// the way that it went.
func TestRing(t *testing.T) {
	a, b := newRig(t, time.Minute), newRig(t, time.Minute)
	a.into(b, "there")
	b.into(a, "back")
	j := a.ends(a.submit("job", api.Spec{Pool: "physics"}), "failed")
	if c := j.Tasks[0].Cause; !strings.Contains(c, "its path through bridges is there, back, there") ||
		!strings.Contains(c, "let one take only pools into which the others do not submit") {
		t.Errorf("%+v", j.Tasks[0])
	}
	if here, there := len(a.jobs()), len(b.jobs()); here != 2 || there != 1 {
		t.Errorf("there are %d and %d jobs", here, there)
	}
}
