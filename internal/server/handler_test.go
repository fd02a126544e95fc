package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/store/memory"
)

// desk is a server whose requests come from whom the test says.
type desk struct {
	*Server
	t *testing.T
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{newServer(t), t}
}

// newServer is a server without nodes.
func newServer(t testing.TB) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	store := memory.New("cpu")
	loop, err := fairlead.NewLoop(ctx, store, fairlead.LoopOptions{LeaseTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; store.Close() })
	return New(Options{Loop: loop, Store: store})
}

// send sends a request as somebody and reads the answer into out, if it is not nil.
func (d *desk) send(a actor, method, path string, in, out any, headers ...string) int {
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
	d.handler.ServeHTTP(w, r.WithContext(context.WithValue(d.t.Context(), actorKey{}, a)))
	if out != nil && w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			d.t.Fatal(err)
		}
	}
	return w.Code
}

func (d *desk) submit(a actor, s api.Spec, headers ...string) (*fairlead.Job, api.Submitted, int) {
	d.t.Helper()
	var r api.SubmitResponse
	status := d.send(a, http.MethodPost, "/v1/jobs", api.SubmitRequest{Jobs: []api.Spec{s}}, &r, headers...)
	if status != http.StatusOK {
		return nil, api.Submitted{}, status
	}
	j, err := d.options.Loop.Client().Job(d.t.Context(), r.Jobs[0].ID)
	if err != nil {
		d.t.Fatal(err, r.Jobs[0].Error)
	}
	return j, r.Jobs[0], status
}

// TestGroupIsTheUsers: rules may place jobs by group, so nobody chooses the own one.
func TestGroupIsTheUsers(t *testing.T) {
	d := newDesk(t)
	spec := api.Spec{Argv: []string{"true"}}
	ann := ann
	ann.group = "staff"
	admin := root
	admin.group = "root"
	for _, c := range []struct {
		who        actor
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
			t.Errorf("%s as %q: status %d, job %+v; want group %q", c.who.User, c.as, status, j, c.want)
		}
	}
}

// TestListsAreSmall: a list has no data, whoever asks; a job has, for its owner.
func TestListsAreSmall(t *testing.T) {
	d := newDesk(t)
	j, _, _ := d.submit(ann, api.Spec{Argv: []string{"x"}, Script: true, Payload: []byte("true\n"), Env: map[string]string{"A": "b"}})
	for _, who := range []actor{ann, root} {
		var list api.JobList
		d.send(who, http.MethodGet, "/v1/jobs", nil, &list)
		if len(list.Jobs) != 1 || list.Jobs[0].Payload != nil || list.Jobs[0].Env != nil || list.Jobs[0].Argv == nil {
			t.Errorf("%s lists %+v", who.User, list.Jobs)
		}
		var one api.JobResponse
		d.send(who, http.MethodGet, fmt.Sprint("/v1/jobs/", j.ID), nil, &one)
		if len(one.Job.Payload) == 0 || one.Job.Env["A"] != "b" {
			t.Errorf("%s gets %+v", who.User, one.Job)
		}
	}
}

// TestOnlyAdministrators: what others may not do is refused by the handler itself.
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
	if now, err := d.options.Loop.Client().Job(t.Context(), j.ID); err != nil || now.State != fairlead.Waiting || now.Priority != j.Priority {
		t.Errorf("the job is changed: %+v, %v", now, err)
	}
	for path, in := range map[string]any{
		"/v1/agents/n/join": api.JoinRequest{Capacity: map[string]int64{"cpu": 1}}, "/v1/agents/n/poll": api.PollRequest{},
		"/v1/agents/n/report": api.ReportRequest{}, "/v1/agents/n/log/x": api.LogReply{}, "/v1/nodes/n/drain": api.DrainRequest{},
	} {
		for _, who := range []actor{ann, unknown} {
			if status := d.send(who, http.MethodPost, path, in, nil); status != refusal(who) {
				t.Errorf("%s (%d) at %s: status %d", who.User, who.UID, path, status)
			}
		}
	}
}

// TestWordsAreChecked: a cause is shown to others.
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

// TestSubmissionIsCheap: what waits already does not make a submission slow.
func TestSubmissionIsCheap(t *testing.T) {
	d := newDesk(t)
	for range 3000 {
		d.submit(ann, api.Spec{Argv: []string{"true"}, Array: "0-30"})
	}
	d.send(root, http.MethodPost, "/v1/agents/n/join", api.JoinRequest{Capacity: map[string]int64{"cpu": 1}}, nil)
	const jobs = 200
	var submitting, asking [jobs]time.Duration
	for i := range jobs {
		began := time.Now()
		_, s, _ := d.submit(ann, api.Spec{Argv: []string{"true"}})
		submitting[i] = time.Since(began)
		if s.Reason == nil || s.Reason.Text == "" {
			t.Fatalf("submitted: %+v", s)
		}
		began = time.Now()
		if _, err := d.options.Loop.Why(t.Context(), s.ID, fairlead.WhyOptions{Siblings: 1}); err != nil {
			t.Fatal(err)
		}
		asking[i] = time.Since(began)
	}
	// Those in the middle: a machine that does something else makes some slower.
	slices.Sort(submitting[:])
	slices.Sort(asking[:])
	if s, a := submitting[jobs/2], asking[jobs/2]; 2*s > a {
		t.Errorf("a submission takes %v, asking why %v", s, a)
	}
}
