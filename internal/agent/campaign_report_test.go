//go:build campaign

package agent

import (
	"context"
	"encoding/json"
	"io"
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
	"github.com/fairlead/fairlead/queue"
)

// silent is a server that gives out one task and then answers no request until "resume" is closed.
type silent struct {
	ttl    time.Duration
	lease  api.Lease
	once   sync.Once
	given  chan struct{}
	resume chan struct{}

	told     sync.Once
	back     chan struct{} // closed when the agent has released the task
	finished atomic.Bool   // the agent reported the end of the task
}

// note records a report of an agent.
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
		json.NewEncoder(w).Encode(api.JoinResponse{Session: "s", TTLSeconds: s.ttl.Seconds(), Sole: true})
		return
	}
	first := false
	if strings.HasSuffix(r.URL.Path, "/poll") {
		s.once.Do(func() { first = true })
	}
	if first {
		json.NewEncoder(w).Encode(api.PollResponse{Start: []api.Lease{s.lease}, Sole: true})
		close(s.given)
		return
	}
	s.note(r)
	io.Copy(io.Discard, r.Body)
	<-s.given
	<-s.resume
	select {
	case <-r.Context().Done():
	case <-time.After(time.Millisecond):
	}
	io.WriteString(w, "{}")
}

// TestCampaignKillsWhatItCannotRenew checks that an agent ends a task before the end of its lease if the server stops
// answering, because the server may give the task to another agent after that. If the server comes back before it has
// ended the lease, the task waits again, because nobody canceled it.
func TestCampaignKillsWhatItCannotRenew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	// The agent kills the task a tenth of the lease early; within this time a slow machine must kill the task
	// and this test must see it.
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
