package server_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/server"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/remote"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// rig is a server on a socket and on loopback.
type rig struct {
	*api.Client
	loop   *engine.Loop
	server *server.Server
	socket string
	tcp    string
	nodes  string // where other machines connect, if they do
}

func newRig(t *testing.T, change ...func(*server.Options)) *rig {
	t.Helper()
	return newRigFor(t, time.Minute, change...)
}

// newRigFor is newRig with leases of this length. Where no lease should end, they are longer than any delay on a busy
// machine.
func newRigFor(t *testing.T, lease time.Duration, change ...func(*server.Options)) *rig {
	t.Helper()
	return newRigOn(t, memory.New("cpu"), lease, change...)
}

// newRigOn is newRigFor on a store.
func newRigOn(t *testing.T, store queue.Store, lease time.Duration, change ...func(*server.Options)) *rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{LeaseTTL: lease})
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{Loop: loop, Store: store, Program: "test", StoreName: "memory"}
	for _, f := range change {
		f(&o)
	}
	s := server.New(o)
	r := &rig{loop: loop, server: s, socket: filepath.Join(t.TempDir(), "s")}
	unix, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.tcp = "http://" + tcp.Addr().String()
	if r.Client, err = api.Dial(r.socket); err != nil {
		t.Fatal(err)
	}
	listeners := []net.Listener{unix, tcp}
	if o.CA != nil {
		outside, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		r.nodes = "https://" + outside.Addr().String()
		listeners = append(listeners, s.NodeListener(outside))
	}
	var wg sync.WaitGroup
	wg.Go(func() { loop.Run(ctx) })
	wg.Go(func() {
		if err := s.Serve(ctx, listeners...); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { r.Close(); cancel(); wg.Wait(); store.Close() })
	return r
}

// browser returns a client with a session, as a browser has one.
func (r *rig) browser(t *testing.T) *http.Client {
	t.Helper()
	link, err := r.SignIn(t.Context(), api.SignInRequest{Admin: true})
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	t.Cleanup(c.CloseIdleConnections)
	if resp, err := c.Get(link.Address); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
	return c
}

func (r *rig) submit(t *testing.T, specs ...api.Spec) []int64 {
	t.Helper()
	resp, err := r.Jobs.Submit(t.Context(), api.SubmitRequest{Jobs: specs, Unsatisfiable: true})
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, s := range resp.Jobs {
		if s.Error != nil {
			t.Fatal(s.Error)
		}
		ids = append(ids, s.ID)
	}
	return ids
}

func truth() api.Spec { return api.Spec{Argv: []string{"true"}} }

// TestAlterTakesJobsOnce: a job that a request names twice is changed once, and reported twice.
func TestAlterTakesJobsOnce(t *testing.T) {
	r := newRig(t)
	id := r.submit(t, truth())[0]
	resp, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "hold", Jobs: []int64{id, 99, id}})
	if err != nil || len(resp.Results) != 3 || resp.Results[0] != nil || resp.Results[1] == nil || resp.Results[2] != nil {
		t.Errorf("alter %+v, %v", resp, err)
	}
}

// TestRemoteAltersTogether: the changes that a remote client makes in one call are one change, as with a store.
func TestRemoteAltersTogether(t *testing.T) {
	r := newRig(t)
	c, err := remote.Dial(r.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ids, err := c.Submit(t.Context(), queue.Job{Argv: []string{"true"}, Held: true}, queue.Job{Argv: []string{"true"}, After: []queue.Dependency{{Job: -1, On: queue.OnOK}}})
	if err != nil {
		t.Fatal(err)
	}
	cancel := func(id int64) queue.Alteration { return queue.Alteration{Job: id, Verb: queue.VerbCancel} }
	release := queue.Alteration{Job: ids[0], Verb: queue.VerbRelease}
	errs, err := c.Alter(t.Context(), release, cancel(ids[0]), cancel(ids[1]), cancel(99))
	if err != nil || len(errs) != 4 || errs[0] != nil || errs[1] != nil || errs[2] != nil || !errors.Is(errs[3], queue.ErrNotFound) {
		t.Errorf("got %v, %v", errs, err)
	}
}

func TestSubmitListAndAlter(t *testing.T) {
	r := newRig(t)
	ids := r.submit(t, truth(), api.Spec{Argv: []string{"sleep", "1"}, Name: "two", Array: "0-9%3"})
	list, err := r.Jobs.List(t.Context(), url.Values{"rank": {"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Jobs) != 2 || list.Jobs[1].Tasks != 10 || list.Jobs[1].MaxRunning != 3 || list.Jobs[0].Rank != 1 || list.Jobs[0].User == "" {
		t.Errorf("list %+v", list)
	}
	resp, err := r.Jobs.Alter(t.Context(), api.AlterRequest{Verb: "cancel", Jobs: []int64{ids[0], 99}})
	if err != nil || resp.Results[0] != nil || resp.Results[1] == nil || resp.Results[1].Code != "not_found" {
		t.Errorf("alter %+v, %v", resp, err)
	}
	job, err := r.Jobs.Get(t.Context(), ids[0])
	if err != nil || job.Job.State != "cancelled" {
		t.Errorf("job %+v, %v", job, err)
	}
	if _, err := r.Jobs.Get(t.Context(), 12345); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("an unknown job: %v", err)
	}
	some, err := r.Jobs.List(t.Context(), url.Values{"ids": {fmt.Sprint(ids[0]), fmt.Sprint(ids[1])}, "state": {"waiting", "running"}})
	if err != nil || len(some.Jobs) != 1 || some.Jobs[0].ID != ids[1] {
		t.Errorf("filtered list %+v, %v", some, err)
	}
}

// TestAgentProtocol plays an agent by hand: lost answers are sent again, stale attempts are refused, and the error for
// an ended session says so.
func TestAgentProtocol(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	join, err := r.Join(ctx, "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 2}, Instance: "its own"})
	if err != nil {
		t.Fatal(err)
	}
	poll := func(ack ...queue.Ref) *api.PollResponse {
		t.Helper()
		p, err := r.Poll(ctx, "n1", api.PollRequest{Session: join.Session, Ack: ack, WaitSeconds: 5})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ids := r.submit(t, truth())
	first := poll()
	if len(first.Start) != 1 || first.Start[0].JobID != ids[0] || first.Start[0].Job.Argv[0] != "true" {
		t.Fatalf("poll %+v", first)
	}
	again := poll()
	if len(again.Start) != 1 || again.Start[0].Ref != first.Start[0].Ref {
		t.Fatalf("an unacknowledged lease is not sent again: %+v", again)
	}
	ref := first.Start[0].Ref
	done := api.FromResult(ref, queue.Outcome{State: queue.Succeeded})
	for i, want := range []string{"", "stale_attempt"} {
		report, err := r.Report(ctx, "n1", api.ReportRequest{Session: join.Session, Finished: []api.Finished{done}})
		if err != nil {
			t.Fatal(err)
		}
		if e := report.Finished[0]; (e == nil) != (want == "") || e != nil && e.Code != want {
			t.Errorf("report %d: %+v, want %q", i, e, want)
		}
	}
	long := r.submit(t, api.Spec{Argv: []string{"sleep", "100"}})[0]
	lease := poll().Start[0].Ref
	if _, err := r.Jobs.Alter(ctx, api.AlterRequest{Verb: "cancel", Jobs: []int64{long}}); err != nil {
		t.Fatal(err)
	}
	if p := poll(lease); len(p.Stop) != 1 || p.Stop[0].Ref != lease {
		t.Errorf("cancelling sends %+v", p)
	}
	if _, err := r.Join(ctx, "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 2}, Instance: "its own"}); err != nil {
		t.Fatal(err)
	}
	if p := poll(); !p.Rejoin {
		t.Errorf("an old session goes on: %+v", p)
	}
}

// TestAgentComesBack: an agent that joins again keeps the attempts that it names. Attempts that never reached it are
// given back without a loss, and it is told again which attempts to stop.
func TestAgentComesBack(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	join := func(running ...queue.Ref) (session string) {
		t.Helper()
		j, err := r.Join(ctx, "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}, Running: running, Again: true, Instance: "its own"})
		if err != nil {
			t.Fatal(err)
		}
		return j.Session
	}
	poll := func(session string) *api.PollResponse {
		t.Helper()
		p, err := r.Poll(ctx, "n1", api.PollRequest{Session: session, WaitSeconds: 5})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	id := r.submit(t, truth())[0]
	ref := poll(join()).Start[0].Ref
	again := poll(join()).Start[0].Ref
	if again.JobID != id || again.Attempt != ref.Attempt+1 {
		t.Errorf("what did not arrive as %v came again as %v", ref, again)
	}
	if j, err := r.Jobs.Get(ctx, id); err != nil || j.Tasks[0].Losses != 0 {
		t.Errorf("what never began counts as lost: %+v, %v", j, err)
	}
	session := join(again)
	if _, err := r.Jobs.Alter(ctx, api.AlterRequest{Verb: "cancel", Jobs: []int64{id}}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at first", "after it was lost"} {
		if p := poll(session); len(p.Stop) != 1 || p.Stop[0].Ref != again {
			t.Errorf("%s, cancelling sends %+v", when, p)
		}
		if _, err := r.Report(ctx, "n1", api.ReportRequest{Session: session, Renew: []queue.Ref{again}}); err != nil {
			t.Fatal(err)
		}
	}
	done := api.FromResult(again, queue.Outcome{State: queue.Cancelled})
	report, err := r.Report(ctx, "n1", api.ReportRequest{Session: session, Finished: []api.Finished{done}})
	if err != nil || report.Finished[0] != nil {
		t.Errorf("the end of an attempt that was kept is refused: %+v, %v", report, err)
	}
}

// TestSilentAgent: when the server no longer hears of an agent, the agent's tasks run elsewhere, and its late report is
// refused.
func TestSilentAgent(t *testing.T) {
	r := newRigFor(t, 3*time.Second)
	ctx := t.Context()
	capacity := map[string]int64{"cpu": 1}
	a, err := r.Join(ctx, "a", api.JoinRequest{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	r.submit(t, truth())
	p, err := r.Poll(ctx, "a", api.PollRequest{Session: a.Session, WaitSeconds: 5})
	if err != nil || len(p.Start) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	ref := p.Start[0].Ref
	b, err := r.Join(ctx, "b", api.JoinRequest{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(await.Patience); len(p.Start) == 0 || p.Start[0].Attempt == 1; {
		if p, err = r.Poll(ctx, "b", api.PollRequest{Session: b.Session, WaitSeconds: 20}); err != nil || time.Now().After(deadline) {
			break
		}
	}
	if err != nil || len(p.Start) != 1 || p.Start[0].Attempt != 2 {
		t.Fatalf("the task does not run elsewhere: %+v, %v", p, err)
	}
	late, err := r.Report(ctx, "a", api.ReportRequest{Session: a.Session, Finished: []api.Finished{api.FromResult(ref, queue.Outcome{State: queue.Succeeded})}})
	if err != nil || late.Finished[0] == nil || late.Finished[0].Code != "stale_attempt" {
		t.Errorf("a late report: %+v, %v", late, err)
	}
}

func TestWhyOverTheWire(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	if _, err := r.Join(ctx, "n1", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}}); err != nil {
		t.Fatal(err)
	}
	ids := r.submit(t, truth(), truth(), api.Spec{Argv: []string{"true"}, Pool: "other"}, api.Spec{Argv: []string{"x"}, Request: map[string]int64{"gpu": 4}})
	for job, err := r.Jobs.Get(ctx, ids[0]); err != nil || job.Job.State != "running"; job, err = r.Jobs.Get(ctx, ids[0]) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var answers []*why.Answer
	for _, id := range ids[1:] {
		a, err := r.Jobs.Why(ctx, id, explain.WhyOptions{Evidence: true})
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
		if checks := replay.Verify(a, policy.Rule); !why.Verified(checks) {
			t.Errorf("job %d does not verify: %+v", id, checks)
		}
	}
	if a := answers[2]; a.Verdict != why.Impossible || a.Reason.Code != why.FitNever {
		t.Errorf("a request that no node can take: %s, %+v", a.Verdict, a.Reason)
	}
	v, err := r.Jobs.Versus(ctx, ids[1], fmt.Sprint(ids[2]))
	if err != nil || v.Comparison.First != "b" || v.Comparison.By != "key" {
		t.Errorf("versus %+v, %v", v.Comparison, err)
	}
	if _, err := r.Jobs.Versus(ctx, ids[1], "nobody"); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("versus nobody: %v", err)
	}
	if a, err := r.Pools.Why(ctx, "other"); err != nil || a.Subject.Waiting != 1 {
		t.Errorf("pool %+v, %v", a, err)
	}
}

func TestEventsAreLive(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := remote.Dial(r.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := make(chan string, 100)
	errs := make(chan error, 1)
	go func() {
		errs <- c.Watch(ctx, func(e queue.Event) error { got <- e.Code; return nil })
	}()
	for {
		ids, err := c.Submit(ctx, queue.Job{Argv: []string{"true"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Cancel(ctx, ids[0]); err != nil {
			t.Fatal(err)
		}
		select {
		case code := <-got:
			if code != "waiting" && code != "withdrawn" && code != "ended" {
				t.Errorf("event %q", code)
			}
			return
		case err := <-errs:
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond): // the watch had not begun yet
		}
	}
}

type thumbnail struct{ Image string }

func (thumbnail) Kind() string { return "thumbnail" }

type unkeepable struct{ C chan int }

func (unkeepable) Kind() string { return "unkeepable" }

// TestRemoteJobsHaveArguments: arguments of jobs are stored as with a client in the same process.
func TestRemoteJobsHaveArguments(t *testing.T) {
	r := newRig(t)
	c, err := remote.Dial(r.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ids, err := c.Submit(t.Context(), queue.Job{Args: thumbnail{"cat.jpg"}})
	if err != nil {
		t.Fatal(err)
	}
	if j, err := c.Job(t.Context(), ids[0]); err != nil || j.Kind != "thumbnail" || string(j.Payload) != `{"Image":"cat.jpg"}` {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := c.Submit(t.Context(), queue.Job{Argv: []string{"true"}}, queue.Job{Args: unkeepable{}}); !errors.Is(err, queue.ErrInvalid) || !strings.Contains(err.Error(), "job 2: ") {
		t.Errorf("%v", err)
	}
}

func TestHostileRequests(t *testing.T) {
	r := newRig(t)
	browser := r.browser(t)
	send := func(change func(*http.Request), body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, r.tcp+"/v1/jobs", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		change(req)
		resp, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text := make([]byte, 4096)
		n, _ := resp.Body.Read(text)
		return resp.StatusCode, string(text[:n])
	}
	none := func(*http.Request) {}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		body   string
		status []int
	}{
		{"good", none, `{"jobs":[{"argv":["true"]}]}`, []int{200}},
		{"from another site", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, `{"jobs":[{"argv":["true"]}]}`, []int{403}},
		{"under another name", func(r *http.Request) { r.Host = "evil.example" }, `{"jobs":[{"argv":["true"]}]}`, []int{421}},
		{"unknown field", none, `{"jobs":[{"argv":["true"],"user":"root"}]}`, []int{422}},
		{"not JSON", none, `{"jobs":`, []int{400, 422}},
		{"nested deeply", none, strings.Repeat("[", 100_000), []int{400, 422}},
		{"nothing", none, `{"jobs":[]}`, []int{422}},
	} {
		status, text := send(c.change, c.body)
		ok := false
		for _, want := range c.status {
			ok = ok || status == want
		}
		if !ok {
			t.Errorf("%s: status %d, want %v: %.200s", c.name, status, c.status, text)
		}
	}
	resp, err := r.Jobs.Submit(t.Context(), api.SubmitRequest{Jobs: []api.Spec{
		{Argv: []string{"true"}, Name: "\x1b[2Jboo"}, {Argv: []string{"true"}, Array: "0-999999999999"},
		{Argv: []string{"true"}, Pool: "../../etc"}, {Payload: make([]byte, queue.MaxPayload+1)}, {Argv: []string{"true"}, Request: map[string]int64{"exec": 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range resp.Jobs {
		if s.Error == nil || s.Error.Code != "invalid" {
			t.Errorf("bad job %d: %+v", i, s)
		}
	}
}

func TestMetricsAndHealth(t *testing.T) {
	r := newRig(t)
	browser := r.browser(t)
	r.submit(t, truth())
	for path, want := range map[string]string{
		"/metrics": `fairlead_waiting_tasks{pool="/"} 1`, "/healthz": "ok", "/readyz": "ok", "/openapi.json": `"/v1/jobs/{id}/why"`,
	} {
		resp, err := browser.Get(r.tcp + path)
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 1<<20)
		n := 0
		for {
			k, err := resp.Body.Read(text[n:])
			n += k
			if err != nil {
				break
			}
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(text[:n]), want) {
			t.Errorf("%s: %d, without %q", path, resp.StatusCode, want)
		}
	}
	st, err := r.Status(t.Context())
	if err != nil || st.You.UID != os.Getuid() || st.You.By != "socket" {
		t.Errorf("status %+v, %v", st, err)
	}
}
