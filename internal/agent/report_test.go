package agent

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/plain"
	"github.com/fairlead/fairlead/queue"
)

// refuser is a server that takes reports, but no large ones and none of job 7.
type refuser struct {
	mu       sync.Mutex
	finished []queue.Ref
	renewed  []queue.Ref
	order    []string
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
		s.order = append(s.order, "finished")
	}
	for _, ref := range req.Renew {
		s.renewed = append(s.renewed, ref)
		s.order = append(s.order, "renewed")
	}
	json.NewEncoder(w).Encode(api.ReportResponse{
		Finished: make([]*api.Error, len(req.Finished)), Renew: make([]*api.Error, len(req.Renew)),
	})
}

// served has a handler answer on a socket, and returns its path.
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

// TestReportsInParts: many ends, each with much to say, arrive nevertheless, also when
// one of them is refused; and leases are renewed before.
func TestReportsInParts(t *testing.T) {
	s := &refuser{}
	client, err := api.Dial(served(t, s))
	if err != nil {
		t.Fatal(err)
	}
	running := queue.Ref{JobID: 9999, Attempt: 1}
	a := &Agent{
		Machine:  &Machine{options: Options{Client: client, Name: "n"}, log: slog.New(slog.DiscardHandler)},
		renewNow: true, ttl: time.Minute,
		tasks: map[queue.Ref]*task{running: {}},
	}
	const many = 3000
	for i := range many {
		o := queue.Outcome{State: queue.Failed, Cause: plain.Bounded(strings.Repeat("\x00\u00e9", 100<<10), maxCause)}
		a.finished = append(a.finished, api.FromResult(queue.Ref{JobID: int64(i + 1), Attempt: 1}, o))
	}
	if !a.reportOnce(t.Context()) {
		t.Fatal("it has to be sent again")
	}
	if len(a.finished) != 0 || len(s.finished) != many-1 {
		t.Errorf("%d ends are left, %d arrived", len(a.finished), len(s.finished))
	}
	if len(s.renewed) != 1 || s.order[0] != "renewed" || a.tasks[running].until.IsZero() {
		t.Errorf("renewed %v, first came %s", s.renewed, s.order[0])
	}
}

// silent is a server that gives out one task and answers nothing after that.
type silent struct {
	ttl    time.Duration
	lease  api.Lease
	once   sync.Once
	given  chan struct{}
	resume chan struct{}

	told     sync.Once
	back     chan struct{} // closed when the task is given back
	finished atomic.Bool   // its end was reported
}

// note notes what an agent reports.
func (s *silent) note(r *http.Request) {
	var report api.ReportRequest
	if !strings.HasSuffix(r.URL.Path, "/report") || json.NewDecoder(r.Body).Decode(&report) != nil {
		return
	}
	if len(report.Finished) > 0 {
		s.finished.Store(true)
	}
	if slices.Contains(report.Release, s.lease.Ref) {
		s.told.Do(func() { close(s.back) })
	}
}

func (s *silent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/join") {
		json.NewEncoder(w).Encode(api.JoinResponse{Session: "s", TTLSeconds: s.ttl.Seconds()})
		return
	}
	first := false
	if strings.HasSuffix(r.URL.Path, "/poll") {
		s.once.Do(func() { first = true })
	}
	if first {
		json.NewEncoder(w).Encode(api.PollResponse{Start: []api.Lease{s.lease}})
		close(s.given)
		return
	}
	s.note(r)
	io.Copy(io.Discard, r.Body)
	<-s.given
	<-s.resume
	time.Sleep(time.Millisecond)
	io.WriteString(w, "{}")
}

// TestKillsWhatItCannotRenew: when the server stops answering, a task is ended before
// its lease is, because the server gives it to somebody else then. When the server is back
// before anybody has noticed, the task waits again: it was not cancelled.
func TestKillsWhatItCannotRenew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	// A tenth of the lease is what a slow machine may take from it to tell both of us.
	s := &silent{ttl: 6 * time.Second, given: make(chan struct{}), resume: make(chan struct{}), back: make(chan struct{})}
	s.lease = api.Lease{
		Ref: queue.Ref{JobID: 1, Attempt: 1}, User: "whoever", Tasks: 1,
		Job: api.Spec{
			Argv: []string{"sh", "-c", "echo $$ >" + pidFile + ".new; mv " + pidFile + ".new " + pidFile + "; exec sleep 1000"},
			Dir:  dir,
		},
	}
	client, err := api.Dial(served(t, s))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Client: client, Name: "n", Dir: dir, Capacity: map[string]int64{"cpu": 1}, AnyUser: true, Drain: time.Millisecond,
		})
	}()
	<-s.given
	began := time.Now()
	pid := 0
	for time.Since(began) < s.ttl && pid == 0 {
		text, _ := os.ReadFile(pidFile)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		time.Sleep(time.Millisecond)
	}
	for time.Since(began) < s.ttl && syscall.Kill(pid, 0) == nil {
		time.Sleep(time.Millisecond)
	}
	if pid == 0 || syscall.Kill(pid, 0) == nil {
		t.Errorf("process %d still runs when its lease is over", pid)
	}
	close(s.resume)
	select {
	case <-s.back:
	case <-time.After(time.Minute):
		t.Error("the task was not given back")
	}
	if s.finished.Load() {
		t.Error("the end of the task was reported as if it had been meant")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
