package server_test

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// TestUsedNow: the resources that a running task uses are shown as its agent reported them with the latest renewal, for
// attempts that the agent holds, until the attempt ends.
func TestUsedNow(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	j, err := r.Join(ctx, "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 4, "mem": 8 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	id := r.submit(t, api.Spec{Argv: []string{"sleep", "100"}, Request: map[string]int64{"cpu": 2, "mem": 4 << 30}})[0]
	p, err := r.Poll(ctx, "n1", api.PollRequest{Session: j.Session, WaitSeconds: 5})
	if err != nil || len(p.Start) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	ref := p.Start[0].Ref
	foreign := queue.Ref{JobID: id + 1, Attempt: 1}
	used := views.Used{CPU: 15, Memory: 1 << 30, Elapsed: 10}
	if _, err := r.Report(ctx, "n1", api.ReportRequest{
		Session: j.Session, Renew: []queue.Ref{foreign, ref}, Used: []views.Used{used, used},
	}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Jobs.Get(ctx, id)
	if u := got.Job.Used; err != nil || u == nil || u.Tasks != 1 || u.Memory != 1<<30 || u.CPU != 15 || u.At == nil {
		t.Fatalf("%+v, %v", u, err)
	}
	a, err := r.Jobs.Why(ctx, id, explain.WhyOptions{})
	const want = "; it uses 1G of 4G memory, 75.0% of 2 cpu, measured "
	if err != nil || !strings.Contains(a.Reason.Text, want) {
		t.Errorf("why says %q, want %q (%v)", a.Reason.Text, want, err)
	}
	end := api.FromResult(ref, queue.Outcome{State: queue.Succeeded})
	if _, err := r.Report(ctx, "n1", api.ReportRequest{Session: j.Session, Finished: []api.Finished{end}}); err != nil {
		t.Fatal(err)
	}
	if got, err = r.Jobs.Get(ctx, id); err != nil || got.Job.Used != nil {
		t.Errorf("after its end: %+v, %v", got.Job.Used, err)
	}
}
