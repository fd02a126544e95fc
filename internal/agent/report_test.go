package agent

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// refuser is a server that accepts reports, except large ones and those of job 7.
type refuser struct {
	mu       sync.Mutex
	finished []queue.Ref
}

func (s *refuser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := io.ReadAll(r.Body)
	var req api.ReportRequest
	if err := json.Unmarshal(text, &req); err != nil {
		panic(err)
	}
	refused := len(text) > 16<<20
	for _, f := range req.Finished {
		refused = refused || f.JobID == 7
	}
	if refused {
		w.WriteHeader(http.StatusUnprocessableEntity)
		io.WriteString(w, `{"code":"invalid","detail":"no"}`)
		return
	}
	for _, f := range req.Finished {
		s.finished = append(s.finished, f.Ref)
	}
	json.NewEncoder(w).Encode(api.ReportResponse{Finished: make([]*api.Error, len(req.Finished))})
}

// served serves a handler on a socket, and returns the path of the socket.
func served(t *testing.T, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

// TestReportsInParts checks that many ends with long causes arrive, even though the server refuses one of
// them.
func TestReportsInParts(t *testing.T) {
	s := &refuser{}
	client, err := api.Dial(served(t, s))
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{
		Machine: &Machine{options: Options{Client: client, Name: "n"}, log: slog.New(slog.DiscardHandler)},
		server:  wait.NewOutage(nil, "", ""), unreported: wait.NewOutage(nil, "", ""),
	}
	const many = 3000
	o := queue.Outcome{State: queue.Failed, Cause: bounded.Text(strings.Repeat("\x00\u00e9", 100<<10), maxCause)}
	for i := range many {
		a.finished = append(a.finished, api.FromResult(queue.Ref{JobID: int64(i + 1), Attempt: 1}, o))
	}
	if !a.reportOnce(t.Context()) {
		t.Fatal("it has to be sent again")
	}
	if len(a.finished) != 0 || len(s.finished) != many-1 {
		t.Errorf("%d ends are left, %d arrived", len(a.finished), len(s.finished))
	}
}

// TestKeepsEndsThatAreNotRecorded checks that the agent keeps an end that the server could not record, reports the
// other ends, and drops an end that the server refuses for good.
func TestKeepsEndsThatAreNotRecorded(t *testing.T) {
	mended, got := false, map[int64]int{}
	client, err := api.Dial(served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req api.ReportRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		errs := make([]*api.Error, len(req.Finished))
		for i, f := range req.Finished {
			got[f.JobID]++
			switch {
			case f.JobID == 7 && !mended:
				errs[i] = &api.Error{Code: "internal", Detail: "planted"}
			case f.JobID == 8:
				errs[i] = &api.Error{Code: "stale_attempt", Detail: "over"}
			}
		}
		json.NewEncoder(w).Encode(api.ReportResponse{Finished: errs})
	})))
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{
		Machine: &Machine{options: Options{Client: client, Name: "n"}, log: slog.New(slog.DiscardHandler)},
		server:  wait.NewOutage(nil, "", ""), unreported: wait.NewOutage(nil, "", ""),
	}
	for i := range 2 * maxResults {
		ref := queue.Ref{JobID: int64(i + 1), Attempt: 1}
		a.finished = append(a.finished, api.FromResult(ref, queue.Outcome{State: queue.Succeeded}))
	}
	for range 2 {
		if a.reportOnce(t.Context()) {
			t.Error("the agent does not try again")
		}
		if len(a.finished) != 1 || a.finished[0].JobID != 7 {
			t.Fatalf("the agent has %d ends", len(a.finished))
		}
	}
	mended = true
	if !a.reportOnce(t.Context()) || len(a.finished) != 0 {
		t.Errorf("the agent still has %v", a.finished)
	}
	for job, n := range got {
		if want := map[bool]int{true: 3, false: 1}[job == 7]; n != want {
			t.Errorf("the end of job %d was reported %d times, want %d", job, n, want)
		}
	}
}

// TestRenewsBesideReports checks that the agent renews leases while the server does not answer a report of
// ends.
func TestRenewsBesideReports(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	renewed := make(chan []queue.Ref, 10)
	reported := make(chan bool)
	client, err := api.Dial(served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req api.ReportRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		if len(req.Finished) > 0 {
			reported <- true
			<-ctx.Done()
			return
		}
		renewed <- req.Renew
		json.NewEncoder(w).Encode(api.ReportResponse{Renew: make([]*api.Error, len(req.Renew))})
	})))
	if err != nil {
		t.Fatal(err)
	}
	ref := queue.Ref{JobID: 1, Attempt: 1}
	a := &Agent{
		Machine: &Machine{options: Options{Client: client, Name: "n"}, log: slog.New(slog.DiscardHandler)},
		ttl:     time.Hour, renewNow: true, tasks: map[queue.Ref]*task{ref: {}},
		finished: []api.Finished{{Ref: queue.Ref{JobID: 2, Attempt: 1}}},
		news:     make(chan struct{}, 1), due: make(chan struct{}, 1),
		server: wait.NewOutage(nil, "", ""), unreported: wait.NewOutage(nil, "", ""),
	}
	var both sync.WaitGroup
	defer both.Wait()
	defer cancel()
	both.Go(func() { a.report(ctx) })
	both.Go(func() { a.renewing(ctx) })
	a.wakeReporter()
	<-reported
	wait.Wake(a.due)
	if refs := <-renewed; len(refs) != 1 || refs[0] != ref {
		t.Errorf("renewed %v", refs)
	}
}

// TestAged checks that the agent reports an old end with its age, so that the server can compute the instant
// on its own clock, however far the two clocks differ.
func TestAged(t *testing.T) {
	here, there := time.Now(), time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC) // the agent's clock is off
	ends := []api.Finished{{}, {At: there.Add(-time.Minute)}, {At: there.Add(time.Minute)}}
	for i, want := range []time.Time{{}, here.Add(-time.Minute), {}} {
		told := aged(ends, there)[i]
		if got := told.ToResult(here).Ended; !got.Equal(want) {
			t.Errorf("end %d: %v, want %v", i, got, want)
		}
	}
	if ends[1].EndedAgo != 0 {
		t.Error("what is kept was changed: it is told again, later")
	}
}
