package mq

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/queue"
)

// Reasons why a worker stops a task.
var (
	// ErrCancelled: the bridge asks for it. The worker reports it.
	ErrCancelled = errors.New("cancelled")
	// ErrLost: the queue has given the task to another worker, or will. The worker reports nothing.
	ErrLost = errors.New("the queue took back the task")
	// ErrLeaving: the worker ends. It returns the task to the queue.
	ErrLeaving = errors.New("the worker ends")
)

// outputKept is the largest size of the output in a report, before the limit of its queue cuts it further.
const outputKept = 16 << 10

// endsKept is how many ends a worker remembers, with their output.
const endsKept = 1000

// Worker runs tasks on this machine.
type Worker struct {
	Name    string
	Machine *agent.Machine
	mu      sync.Mutex
	ends    map[string]Report
	oldest  []string // keys of ends, in order
}

// Start returns the report that a task starts now.
func (w *Worker) Start(t *Task, id string) Report {
	return Report{Marker: t.Marker, ID: id, State: Started, Worker: w.Name, Began: time.Now()}
}

// Run runs a task to its end, or until ctx ends, and returns the report of its end. The error is ErrLost or
// ErrLeaving, if that is the cause of ctx; then the worker must report nothing.
func (w *Worker) Run(ctx context.Context, t *Task, started Report) (Report, error) {
	o := w.Machine.Perform(ctx, t.Lease())
	r := started
	r.State, r.Ended, r.ExitCode, r.Error = string(o.State), time.Now(), o.ExitCode, o.Cause
	if r.Error == "" && o.Signal != "" {
		r.Error = "ended by " + o.Signal
	}
	if cause := context.Cause(ctx); o.State == queue.Cancelled &&
		(errors.Is(cause, ErrLost) || errors.Is(cause, ErrLeaving)) {
		return r, cause
	}
	r.Output = strings.ToValidUTF8(string(w.Machine.Tail(t.Ref, outputKept)), "\uFFFD")
	r.Used = &frontback.Use{Seconds: r.Ended.Sub(r.Began).Seconds(), CPUSeconds: o.CPU.Seconds()}
	return r, nil
}

// Ended records how a task ended, before the worker reports it. If the worker does not know whether the
// report arrived, and the task comes again, it reports the end again and does not run the task.
func (w *Worker) Ended(r Report) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ends == nil {
		w.ends = map[string]Report{}
	}
	if _, known := w.ends[r.Marker]; !known {
		w.oldest = append(w.oldest, r.Marker)
	}
	w.ends[r.Marker] = r
	if len(w.oldest) > endsKept {
		delete(w.ends, w.oldest[0])
		w.oldest = w.oldest[1:]
	}
}

// End returns how a task ended here before.
func (w *Worker) End(marker string) (Report, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, known := w.ends[marker]
	return r, known
}
