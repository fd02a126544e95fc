package agent

import (
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
	if len(s.renewed) != 1 || s.order[0] != "renewed" || a.tasks[running].until.IsZero() {
		t.Errorf("renewed %v, first came %s", s.renewed, s.order[0])
	}
}
