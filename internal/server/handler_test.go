package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// desk is a server that treats each request as coming from the principal that the test names.
type desk struct {
	*Server
	loop *engine.Loop
	t    *testing.T
}

func newDesk(t *testing.T, changes ...func(*Options)) *desk {
	t.Helper()
	s, loop := newServer(t, changes...)
	return &desk{s, loop, t}
}

// newServer returns a server without nodes, with the options as the test changes them.
func newServer(t testing.TB, changes ...func(*Options)) (*Server, *engine.Loop) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	store := memory.New("cpu")
	loop, err := engine.NewLoop(ctx, store, engine.LoopOptions{LeaseTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; store.Close() })
	o := Options{Loop: loop, Store: store}
	for _, change := range changes {
		change(&o)
	}
	return New(o), loop
}

// send sends a request as a principal and decodes the answer into "out", if that is not nil.
func (d *desk) send(a access.Principal, method, path string, in, out any, headers ...string) int {
	d.t.Helper()
	w := d.answerOf(a, method, path, in, headers...)
	if out != nil && w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			d.t.Fatal(err)
		}
	}
	return w.Code
}

// answerOf sends a request as a principal.
func (d *desk) answerOf(a access.Principal, method, path string, in any, headers ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		d.t.Fatal(err)
	}
	r := httptest.NewRequest(method, "http://fairlead"+path, strings.NewReader(string(text)))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r.WithContext(context.WithValue(d.t.Context(), principalKey{}, a)))
	return w
}

func (d *desk) submit(a access.Principal, s api.Spec, headers ...string) (*queue.Job, api.Submitted, int) {
	d.t.Helper()
	var r api.SubmitResponse
	status := d.send(a, http.MethodPost, "/v1/jobs", api.SubmitRequest{Jobs: []api.Spec{s}}, &r, headers...)
	if status != http.StatusOK {
		return nil, api.Submitted{}, status
	}
	j, err := d.loop.Client().Job(d.t.Context(), r.Jobs[0].ID)
	if err != nil {
		d.t.Fatal(err, r.Jobs[0].Error)
	}
	return j, r.Jobs[0], status
}

// TestGroupIsTheUsers: rules may place jobs by group, so users cannot choose their own group.
func TestGroupIsTheUsers(t *testing.T) {
	d := newDesk(t)
	spec := api.Spec{Argv: []string{"true"}}
	ann := ann
	ann.Groups = []string{"staff"}
	admin := root
	admin.Groups = []string{"root"}
	for _, c := range []struct {
		who        access.Principal
		as         string
		user, want string
		status     int
	}{
		{ann, "", "ann", "staff", 200}, {ann, "ann", "ann", "staff", 200}, {ann, "bob", "", "", 403},
		{admin, "root", "root", "root", 200}, {admin, "ann", "ann", "wheel", 200},
	} {
		headers := []string{"X-Fairlead-Group", "wheel"}
		if c.as != "" {
			headers = append(headers, "X-Fairlead-As", c.as)
		}
		j, _, status := d.submit(c.who, spec, headers...)
		if status != c.status || j != nil && (j.User != c.user || j.Group != c.want) {
			t.Errorf("%s as %q: status %d, job %+v; want group %q", c.who.Name, c.as, status, j, c.want)
		}
	}
}

// TestListsAreSmall: a list never contains the data of jobs; a single job does, for its owner.
func TestListsAreSmall(t *testing.T) {
	d := newDesk(t)
	j, _, _ := d.submit(ann, api.Spec{Argv: []string{"x"}, Script: true, Payload: []byte("true\n"), Env: map[string]string{"A": "b"}})
	for _, who := range []access.Principal{ann, root} {
		var list api.JobList
		d.send(who, http.MethodGet, "/v1/jobs", nil, &list)
		if len(list.Jobs) != 1 || list.Jobs[0].Payload != nil || list.Jobs[0].Env != nil || list.Jobs[0].Argv == nil {
			t.Errorf("%s lists %+v", who.Name, list.Jobs)
		}
		var one api.JobResponse
		d.send(who, http.MethodGet, fmt.Sprint("/v1/jobs/", j.ID), nil, &one)
		if len(one.Job.Payload) == 0 || one.Job.Env["A"] != "b" {
			t.Errorf("%s gets %+v", who.Name, one.Job)
		}
	}
}

// TestOnlyAdministrators: the handler itself refuses requests that only administrators may send.
func TestOnlyAdministrators(t *testing.T) {
	d := newDesk(t)
	j, _, _ := d.submit(root, api.Spec{Argv: []string{"true"}})
	for _, verb := range []string{"cancel", "hold", "release", "requeue", "prioritise"} {
		var r api.AlterResponse
		status := d.send(ann, http.MethodPost, "/v1/jobs/alter", api.AlterRequest{Verb: verb, Jobs: []int64{j.ID}, Priority: "high"}, &r)
		if status != 200 || r.Results[0] == nil || r.Results[0].Code != "forbidden" {
			t.Errorf("%s of root's job: %d, %+v", verb, status, r.Results)
		}
	}
	if now, err := d.loop.Client().Job(t.Context(), j.ID); err != nil || now.State != queue.Waiting || now.Priority != j.Priority {
		t.Errorf("the job is changed: %+v, %v", now, err)
	}
	for path, in := range map[string]any{
		"/v1/agents/n/join": api.JoinRequest{Capacity: map[string]int64{"cpu": 1}}, "/v1/agents/n/poll": api.PollRequest{},
		"/v1/agents/n/report": api.ReportRequest{}, "/v1/agents/n/log/x": api.LogReply{}, "/v1/nodes/n/drain": api.DrainRequest{},
	} {
		for _, who := range []access.Principal{ann, unknown} {
			if status := d.send(who, http.MethodPost, path, in, nil); status != refusal(who) {
				t.Errorf("%s (%d) at %s: status %d", who.Name, who.UID, path, status)
			}
		}
	}
}

// TestHoldOfAnAdministrator: a user cannot release a job that an administrator holds. The refusal, the list, the answer
// to why and the job's page name who holds it, and the reason.
func TestHoldOfAnAdministrator(t *testing.T) {
	d := newDesk(t)
	j, _, _ := d.submit(ann, api.Spec{Argv: []string{"true"}})
	alter := func(who access.Principal, verb, cause string) *api.Error {
		t.Helper()
		var r api.AlterResponse
		if status := d.send(who, http.MethodPost, "/v1/jobs/alter", api.AlterRequest{Verb: verb, Jobs: []int64{j.ID}, Cause: cause}, &r); status != 200 {
			t.Fatal(status)
		}
		return r.Results[0]
	}
	says := func(what, text string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q: %s", what, w, text)
			}
		}
	}
	if err := alter(root, "hold", "it fills the disk"); err != nil {
		t.Fatal(err)
	}
	err := alter(ann, "release", "")
	if err == nil || err.Code != "forbidden" || d.state(j.ID) != queue.Held {
		t.Fatalf("ann releases it: %+v", err)
	}
	says("the refusal", err.Detail, "held by root (it fills the disk)", "ask root")
	a, e := forecast.New(d.loop).Why(t.Context(), j.ID, explain.WhyOptions{})
	if e != nil {
		t.Fatal(e)
	}
	says("why", a.Reason.Text, "held by root: it fills the disk")
	says("what to do", a.Reason.Next, "ask root")
	var list api.JobList
	d.send(ann, http.MethodGet, "/v1/jobs?rank=true", nil, &list)
	if x := list.Jobs[0]; x.HeldBy != "root" || x.HeldWhy != "it fills the disk" || x.Reason.Text != "held by root: it fills the disk" {
		t.Errorf("the list: %+v", x)
	}
	_, text := d.look(ann, fmt.Sprint("/jobs/", j.ID), nil)
	says("the page", text, "by root: it fills the disk")
	if strings.Contains(text, "verb=release") {
		t.Error("ann is offered to release it")
	}
	_, text = d.look(ann, fmt.Sprint("/act?verb=release&job=", j.ID), nil)
	says("the question", text, "root held it")
	if _, text = d.look(root, fmt.Sprint("/jobs/", j.ID), nil); !strings.Contains(text, "verb=release") {
		t.Error("root is not offered to release it")
	}
	if err := alter(root, "release", ""); err != nil {
		t.Error(err)
	}
	if err := alter(ann, "hold", "not yet"); err != nil {
		t.Error(err)
	}
	if err := alter(ann, "release", ""); err != nil {
		t.Errorf("ann does not release what she held: %v", err)
	}
	d.look(root, "/act", url.Values{"verb": {"hold"}, "job": {fmt.Sprint(j.ID)}, "reason": {"from the page"}})
	if now, err := d.loop.Client().Job(t.Context(), j.ID); err != nil || now.HeldBy != "root" || now.HeldWhy != "from the page" {
		t.Errorf("held from the page: %+v, %v", now, err)
	}
}

// TestWordsAreChecked: causes are checked, because others see them.
func TestWordsAreChecked(t *testing.T) {
	d := newDesk(t)
	j, _, _ := d.submit(ann, api.Spec{Argv: []string{"true"}})
	for _, text := range []string{"\x1b[2J", "a\nb", "\u202e", strings.Repeat("x", 257)} {
		if status := d.send(ann, http.MethodPost, "/v1/jobs/alter", api.AlterRequest{Verb: "cancel", Jobs: []int64{j.ID}, Cause: text}, nil); status != 422 {
			t.Errorf("cause %.10q: status %d", text, status)
		}
		if status := d.send(root, http.MethodPost, "/v1/nodes/n/drain", api.DrainRequest{Drain: true, Reason: text}, nil); status != 422 {
			t.Errorf("reason %.10q: status %d", text, status)
		}
	}
}

// TestSubmissionIsCheap: waiting jobs do not raise the cost of a submission. The cost is the memory that a submission
// takes, and the test uses the minimum of many: other parts of this process allocate memory meanwhile.
func TestSubmissionIsCheap(t *testing.T) {
	d := newDesk(t)
	d.send(root, http.MethodPost, "/v1/agents/n/join", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}}, nil)
	d.submit(ann, api.Spec{Argv: []string{"true"}}) // takes the node
	least := func() uint64 {
		least := uint64(math.MaxUint64)
		for range 100 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, s, _ := d.submit(ann, api.Spec{Argv: []string{"true"}})
			runtime.ReadMemStats(&after)
			if s.Reason == nil || s.Reason.Text == "" {
				t.Fatalf("submitted: %+v", s)
			}
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	few := least()
	many := make([]api.Spec, 3000)
	for i := range many {
		many[i] = api.Spec{Argv: []string{"true"}, Array: "0-30"}
	}
	if status := d.send(ann, http.MethodPost, "/v1/jobs", api.SubmitRequest{Jobs: many}, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if took := least(); took > 3*few {
		t.Errorf("a submission takes %d bytes beside 93,000 tasks that wait, %d beside few", took, few)
	}
}
