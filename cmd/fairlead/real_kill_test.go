//go:build real

package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// patientLease is longer than any restart, so that no task is lost because the machine is busy.
const patientLease = 10 * time.Minute

// TestRealServerKilled kills a server with -9 right after it acknowledged jobs and a cancellation, while tasks run.
// Nothing of that is lost: a repeated key returns the same job, running tasks continue in their first attempt, and
// every job ends in the right state.
func TestRealServerKilled(t *testing.T) {
	r := newRig(t, patientLease)
	l, gate := r.ledger(), filepath.Join(r.dir, "gate")
	r.serve()
	r.work("n1", 2)
	held := fmt.Sprintf("%s; until [ -e %s ]; do sleep 0.02; done; %s", l.note("b"), gate, l.note("e"))
	ids := map[string]int64{"runs": r.submit(api.Spec{Key: "runs", Array: "0-1", Argv: []string{"sh", "-c", held}})}
	r.until("both tasks run", func() bool { return l.count(t, "b", 1) == 2 })
	spec := func(key string) api.Spec {
		return api.Spec{Key: key, Argv: []string{"sh", "-c", l.note("b") + "; " + l.note("e")}}
	}
	for i := range 20 {
		key := fmt.Sprint("waits-", i)
		ids[key] = r.submit(spec(key))
	}
	r.cancel(ids["waits-0"])
	r.server.kill()

	r.serve()
	if id := r.submit(spec("waits-19")); id != ids["waits-19"] {
		t.Errorf("the key of job %d is job %d after the restart", ids["waits-19"], id)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for key, id := range ids {
		want := queue.Succeeded
		if key == "waits-0" {
			want = queue.Cancelled
		}
		if j := r.finished(id); j.Job.State != string(want) || j.Job.Key != key {
			t.Errorf("job %s is %+v, want that it is %s", key, j.Job, want)
		}
	}
	ranOnce(t, l, 2+19)
	r.accounts()
}

// ranOnce checks that this number of tasks wrote their begin and their end to the ledger, once each.
func ranOnce(t *testing.T, l ledger, tasks int) {
	t.Helper()
	times := map[string]int{}
	for _, e := range l.read(t) {
		times[fmt.Sprint(e.what, " ", e.job, ".", e.number)]++
	}
	for what, n := range times {
		if n != 1 {
			t.Errorf("%s stands in the ledger %d times", what, n)
		}
	}
	if len(times) != 2*tasks {
		t.Errorf("the ledger has %d begins and ends, want those of %d tasks", len(times), tasks)
	}
}

// TestRealServersTakeOver runs two servers on one PostgreSQL. It kills one server with -9, together with its agents,
// while all tasks run there. The other server reruns the tasks when their leases are over.
func TestRealServersTakeOver(t *testing.T) {
	f := newFleet(t, 2, 3*time.Second, 1)
	doomed, other := f.sites[0], f.sites[1]
	doomed.serve()
	other.serve()
	agents := []*proc{doomed.work(agentName(0, 0), 3), doomed.work(agentName(0, 1), 2)}
	const tasks = 5
	first := fmt.Sprintf("%s; sleep 600", f.ledger.note("b"))
	again := f.ledger.note("b") + "; " + f.ledger.note("e")
	id := doomed.submit(api.Spec{
		Array: fmt.Sprintf("0-%d", tasks-1),
		Argv:  []string{"sh", "-c", fmt.Sprintf("if [ $FAIRLEAD_ATTEMPT = 1 ]; then %s; else %s; fi", first, again)},
	})
	doomed.until("all tasks run", func() bool { return f.ledger.count(t, "b", 1) == tasks })
	other.work(agentName(1, 0), tasks)
	doomed.server.kill()
	for _, a := range agents {
		a.kill()
	}
	other.ranTwice(other.finished(id), tasks, agentName(1, 0))
	late := other.submit(api.Spec{Argv: []string{"true"}})
	doomed.serve()
	if j := doomed.finished(late); j.Job.State != string(queue.Succeeded) || late <= id {
		t.Errorf("job %d, submitted after job %d, is %+v", late, id, j.Job)
	}
	f.recount()
	if f.wrong != 0 {
		t.Errorf("%d counters differ from a recount", f.wrong)
	}
}

// TestRealBridgeKilled kills a bridge with -9 while jobs that it passed on run and wait, and restarts it after all of
// them have ended. Each job must be passed on once and run once, and the server must learn of its end.
func TestRealBridgeKilled(t *testing.T) {
	behind := newRig(t, patientLease)
	behind.serve()
	behind.work("m1", 2)
	r := newRig(t, patientLease)
	r.serve()
	l, gate := r.ledger(), filepath.Join(r.dir, "gate")
	first := r.bridgeTo(behind)
	trail := filepath.Join(r.dir, "trail")
	script := fmt.Sprintf("echo $FAIRLEAD_MARKER >>%s; %s; until [ -e %s ]; do sleep 0.02; done; %s",
		trail, l.note("b"), gate, l.note("e"))
	var ids []int64
	for i := range 20 {
		ids = append(ids, r.submit(api.Spec{
			Key: fmt.Sprint("job-", i), Pool: []string{"physics", "biology"}[i%2], Dir: "/", LimitSeconds: 600,
			Argv: []string{"/bin/sh", "-c", script},
		}))
	}
	r.until("jobs run in the queue behind the bridge", func() bool { return l.count(t, "b", 1) == 2 })
	first.kill()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("what the bridge had passed on ends", func() bool {
		list, err := behind.direct.Jobs.List(t.Context(), url.Values{"state": {"waiting", "queued", "running"}})
		return err == nil && len(list.Jobs) == 0
	})
	r.bridgeTo(behind)
	for _, id := range ids {
		if j := r.finished(id); j.Job.State != string(queue.Succeeded) {
			t.Errorf("job %d is %+v", id, j.Job)
		}
	}
	list, err := behind.direct.Jobs.List(t.Context(), url.Values{"limit": {"1000"}})
	if err != nil || len(list.Jobs) != len(ids) {
		t.Errorf("the queue behind the bridge has %d jobs (%v), want %d", len(list.Jobs), err, len(ids))
	}
	text, err := os.ReadFile(trail)
	if err != nil {
		t.Fatal(err)
	}
	markers := map[string]bool{}
	for _, m := range strings.Fields(string(text)) {
		markers[m] = true
	}
	if n := len(strings.Fields(string(text))); n != len(ids) || len(markers) != n {
		t.Errorf("%d runs under %d markers, want %d", n, len(markers), len(ids))
	}
}

// TestRealCancelWaitingOnAnotherServer runs two servers on one PostgreSQL. A job runs on a node of the first server,
// and its waiting tasks are canceled on the second: these tasks never start, and the running tasks end normally. An
// uncancel on the first server runs the canceled tasks, once each.
func TestRealCancelWaitingOnAnotherServer(t *testing.T) {
	f := newFleet(t, 2, patientLease, 1)
	with, other := f.sites[0], f.sites[1]
	with.serve()
	other.serve()
	const slots, tasks = 2, 5
	with.work(agentName(0, 0), slots)
	gate := filepath.Join(with.dir, "gate")
	id := with.submit(api.Spec{Array: fmt.Sprintf("0-%d", tasks-1), Argv: []string{"/bin/sh", "-c",
		fmt.Sprintf("%s; until [ -e %s ]; do sleep 0.02; done; %s", f.ledger.note("b"), gate, f.ledger.note("e"))}})
	with.until("tasks run", func() bool { return f.ledger.count(t, "b", 1) == slots })
	alter := func(r *rig, a api.AlterRequest) {
		t.Helper()
		a.Jobs = []int64{id}
		if out, err := r.direct.Jobs.Alter(t.Context(), a); err != nil || out.Results[0] != nil {
			t.Fatal(out, err)
		}
	}
	alter(other, api.AlterRequest{Verb: "cancel", Waiting: true})
	for _, r := range f.sites {
		r.until("the server knows of it", func() bool { return r.job(id).Job.Cancelled == tasks-slots })
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if j := other.finished(id); j.Job.Succeeded != slots || j.Job.Cancelled != tasks-slots {
		t.Errorf("the job ended as %+v", j.Job)
	}
	ranOnce(t, f.ledger, slots)
	alter(with, api.AlterRequest{Verb: "uncancel"})
	if j := other.finished(id); j.Job.State != string(queue.Succeeded) || j.Job.Succeeded != tasks {
		t.Errorf("after an uncancel the job ended as %+v", j.Job)
	}
	ranOnce(t, f.ledger, tasks)
	f.recount()
	if f.wrong != 0 {
		t.Errorf("%d counters differ from a recount", f.wrong)
	}
}

// TestRealRunningLimitOfTwoServers runs two servers on one PostgreSQL with four processors each. A user who may run
// three tasks never runs more on both servers together, and all tasks run.
func TestRealRunningLimitOfTwoServers(t *testing.T) {
	f := newFleet(t, 2, patientLease, 1)
	const most, tasks = 3, 24
	for i, r := range f.sites {
		file := filepath.Join(r.dir, "limits.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, "user_limits: {running: %d}\n", most), 0o600); err != nil {
			t.Fatal(err)
		}
		r.options = append(r.options, "--config", file)
		r.serve()
		r.work(agentName(i, 0), 4)
	}
	gate := filepath.Join(f.sites[0].dir, "gate")
	script := fmt.Sprintf("%s; until [ -e %s ]; do sleep 0.02; done; %s", f.ledger.note("b"), gate, f.ledger.note("e"))
	var ids []int64
	for i := range 4 {
		ids = append(ids, f.sites[i%2].submit(api.Spec{Array: fmt.Sprintf("1-%d", tasks/4),
			Argv: []string{"/bin/sh", "-c", script}}))
	}
	f.sites[0].until("tasks run", func() bool { return f.ledger.count(t, "b", 1) >= most })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if j := f.sites[(i+1)%2].finished(id); j.Job.Succeeded != tasks/4 {
			t.Errorf("job %d ended as %+v", id, j.Job)
		}
	}
	ranOnce(t, f.ledger, tasks)
	runs, peak := 0, 0
	for _, e := range f.ledger.read(t) {
		if runs += map[string]int{"b": 1, "e": -1}[e.what]; runs > peak {
			peak = runs
		}
	}
	if peak != most {
		t.Errorf("%d tasks ran at once, want %d", peak, most)
	}
}
