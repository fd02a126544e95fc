package examples_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// The numbers of the script: a lease, and a job that is longer than a lease.
const (
	scriptTTL  = 1.0
	outageJob  = 1
	foreignJob = 2
)

// script is a server that gives a worker two tasks, and then does not listen for longer than a lease. When it is back,
// it knows only one of the tasks.
type script struct {
	t      *testing.T
	path   string
	mu     sync.Mutex
	begun  bool // the worker has the tasks
	back   bool // it listens again
	joined *api.JoinRequest
	ended  chan api.Finished
}

// testOutage checks that a task continues while the only server does not listen, although its lease is over; that the
// worker then reports when its tasks began and how long ago they ended; and that it reports nothing about a task that
// the server does not know.
func testOutage(t *testing.T, argv []string) {
	s := &script{t: t, path: filepath.Join(t.TempDir(), "s"), ended: make(chan api.Finished, 10)}
	server, began := s.listen(), time.Now()
	work := (&desk{T: t, argv: argv, socket: s.path}).work("a")
	work.d.await("the tasks on the worker", func() []int64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return make([]int64, map[bool]int{true: 1}[s.begun])
	})
	end(server)
	os.Remove(s.path)
	// The outage is longer than the first task, and the task is longer than its lease.
	work.d.await("the end of the first task", func() []int64 {
		return make([]int64, strings.Count(work.out.String(), "for ann: succeeded"))
	})
	s.mu.Lock()
	s.back = true
	s.mu.Unlock()
	again := s.listen()
	t.Cleanup(func() { end(again) })
	select {
	case f := <-s.ended:
		if f.JobID != outageJob || f.State != "succeeded" {
			t.Errorf("it reports job %d as %s: %s", f.JobID, f.State, f.Cause)
		}
		if most := time.Since(began).Seconds(); f.EndedAgo <= 0 || f.EndedAgo > most {
			t.Errorf("it ended %v seconds ago by the worker, want up to %v", f.EndedAgo, most)
		}
	case <-time.After(patience):
		t.Fatalf("no end is reported\n%s", work.out.String())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.joined.Running) != 2 || len(s.joined.Since) != 2 || !s.joined.Since[0].Equal(since) {
		t.Errorf("it joins again with %+v", s.joined)
	}
	work.kill()
	for len(s.ended) > 0 {
		if f := <-s.ended; f.JobID == foreignJob {
			t.Errorf("it reports the task that the server does not know: %+v", f)
		}
	}
}

// end ends a server and its requests.
func end(server *httptest.Server) {
	server.CloseClientConnections()
	server.Close()
}

// since is the start of the tasks, by the clock of the script.
var since = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// listen begins to listen.
func (s *script) listen() *httptest.Server {
	s.t.Helper()
	l, err := net.Listen("unix", s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
	server.Start()
	return server
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := any(struct{}{})
	switch verb := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]; verb {
	case "join":
		answer = s.join(body)
	case "poll":
		answer = s.poll(r.Context(), body)
	case "report":
		answer = s.report(body)
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.t.Log(err)
	}
}

func (s *script) join(body []byte) api.JoinResponse {
	j := new(api.JoinRequest)
	if err := json.Unmarshal(body, j); err != nil {
		s.t.Error(err)
	}
	answer := api.JoinResponse{Session: "before", TTLSeconds: scriptTTL, Sole: true}
	if s.back {
		s.joined, answer.Session = j, "after"
		answer.Foreign = []queue.Ref{{JobID: foreignJob, Attempt: 1}}
	}
	return answer
}

func (s *script) poll(ctx context.Context, body []byte) api.PollResponse {
	p := new(api.PollRequest)
	if err := json.Unmarshal(body, p); err != nil {
		s.t.Error(err)
	}
	switch {
	case s.back && p.Session == "before":
		return api.PollResponse{Rejoin: true, Sole: true}
	case len(p.Ack) > 0:
		s.begun = true
	case !s.begun:
		lease := func(job int64, seconds string) api.Lease {
			return api.Lease{Ref: queue.Ref{JobID: job, Attempt: 1}, Since: since, User: "ann", Tasks: 1,
				Job: api.Spec{Kind: "wait", Args: []byte(`{"seconds": ` + seconds + `}`)}}
		}
		return api.PollResponse{Start: []api.Lease{lease(outageJob, "2"), lease(foreignJob, "600")}, Sole: true}
	}
	s.mu.Unlock()
	<-ctx.Done() // nothing arrives
	s.mu.Lock()
	return api.PollResponse{Sole: true}
}

func (s *script) report(body []byte) api.ReportResponse {
	r := new(api.ReportRequest)
	if err := json.Unmarshal(body, r); err != nil {
		s.t.Error(err)
	}
	if s.back && r.Session == "before" {
		return api.ReportResponse{Rejoin: true}
	}
	for _, f := range r.Finished {
		s.ended <- f
	}
	return api.ReportResponse{Renew: make([]*api.Error, len(r.Renew)), Finished: make([]*api.Error, len(r.Finished))}
}
