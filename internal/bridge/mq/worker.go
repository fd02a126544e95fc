package mq

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/agent"
)

// Why a worker stops a task.
var (
	// ErrCancelled: the bridge asks for it. This is reported.
	ErrCancelled = errors.New("cancelled")
	// ErrLost: the queue has given the task to somebody else, or will. Nothing is reported.
	ErrLost = errors.New("the queue took the task back")
	// ErrLeaving: the worker ends. It gives the task back.
	ErrLeaving = errors.New("the worker ends")
)

// outputKept is how much of an output a report has at most, before its queue cuts it further.
const outputKept = 16 << 10

// Worker runs tasks on this machine.
type Worker struct {
	Name    string
	Machine *agent.Machine
	mu      sync.Mutex
	done    map[string]bool
	oldest  []string // of done, in order
}

// Start is the report that a task starts now.
func (w *Worker) Start(t *Task, id string) Report {
	return Report{Marker: t.Marker, ID: id, State: Started, Worker: w.Name, Began: time.Now()}
}

// Run runs a task to its end, or until ctx ends, and says how it was. The error is ErrLost or
// ErrLeaving, as the cause of ctx says; then there is nothing to be reported.
func (w *Worker) Run(ctx context.Context, t *Task, started Report) (Report, error) {
	o := w.Machine.Perform(ctx, t.Lease())
	r := started
	r.State, r.Ended, r.ExitCode, r.Error = string(o.State), time.Now(), o.ExitCode, o.Cause
	if r.Error == "" && o.Signal != "" {
		r.Error = "ended by " + o.Signal
	}
	if cause := context.Cause(ctx); o.State == fairlead.Cancelled && (errors.Is(cause, ErrLost) || errors.Is(cause, ErrLeaving)) {
		return r, cause
	}
	r.Output = strings.ToValidUTF8(string(w.Machine.Tail(t.Ref, outputKept)), "\uFFFD")
	r.Used = &frontback.Use{Seconds: r.Ended.Sub(r.Began).Seconds(), CPUSeconds: o.CPU.Seconds(), Processes: 1, Resources: map[string]float64{}}
	for name, n := range t.Spec.Request {
		r.Used.Resources[name] = float64(n)
	}
	return r, nil
}

// Done takes note of a task whose end is reported, though it may still be in the queue.
func (w *Worker) Done(marker string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == nil {
		w.done = map[string]bool{}
	}
	if !w.done[marker] {
		w.done[marker] = true
		w.oldest = append(w.oldest, marker)
		if len(w.oldest) > remembered {
			delete(w.done, w.oldest[0])
			w.oldest = w.oldest[1:]
		}
	}
}

// IsDone reports whether the end of a task was reported by this worker.
func (w *Worker) IsDone(marker string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done[marker]
}
