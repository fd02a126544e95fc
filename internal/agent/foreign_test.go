package agent

import (
	"log/slog"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// TestDisowns checks that the agent reports when its attempts started, and that it ends the attempts that the server
// does not know. It reports nothing about these, even if the server has meanwhile given it another attempt with the
// same numbers.
func TestDisowns(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ref := func(job int64) queue.Ref { return queue.Ref{JobID: job, Attempt: 1} }
	lease := func(job int64) api.Lease { return api.Lease{Ref: ref(job), Since: began.Add(time.Duration(job))} }
	old := &task{lease: lease(1), halted: make(chan struct{})}
	kept := &task{lease: lease(2), halted: make(chan struct{})}
	a := &Agent{
		Machine: &Machine{log: slog.New(slog.DiscardHandler)}, server: wait.NewOutage(nil, "", ""),
		tasks:    map[queue.Ref]*task{ref(1): old, ref(2): kept},
		finished: []api.Finished{{Ref: ref(3), Since: lease(3).Since}},
		release:  []given{{ref(4), lease(4).Since}},
		news:     make(chan struct{}, 1), due: make(chan struct{}, 1),
	}
	said := map[int64]time.Time{}
	o := a.offer()
	for i, r := range o.Running {
		said[r.JobID] = o.Since[i]
	}
	for job := range int64(4) {
		if want := lease(job + 1).Since; !said[job+1].Equal(want) {
			t.Errorf("job %d is said to have started %v, want %v", job+1, said[job+1], want)
		}
	}
	a.joined(&api.JoinResponse{Session: "s", TTLSeconds: 60, Foreign: []queue.Ref{ref(1), ref(3), ref(4)}})
	if len(a.tasks) != 1 || a.tasks[ref(2)] != kept || len(a.finished) != 0 || len(a.release) != 0 {
		t.Errorf("it still has %v, %v, %v", a.tasks, a.finished, a.release)
	}
	select {
	case <-old.halted:
	default:
		t.Error("what is none of the server's goes on")
	}
	another := &task{lease: lease(1)}
	a.tasks[ref(1)] = another
	a.note(old, queue.Outcome{State: queue.Cancelled})
	if len(a.finished) != 0 || a.tasks[ref(1)] != another {
		t.Errorf("the end of the old one is reported as that of the new one: %v, %v", a.finished, a.tasks)
	}
	a.note(another, queue.Outcome{State: queue.Succeeded})
	if len(a.finished) != 1 || a.tasks[ref(1)] != nil {
		t.Errorf("the end of the new one is not reported: %v, %v", a.finished, a.tasks)
	}
}
