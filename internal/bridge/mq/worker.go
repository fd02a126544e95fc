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

// endsKept is how many ends a worker remembers, with their output.
const endsKept = 1000

// Worker runs tasks on this machine.
type Worker struct {
	Name    string
	Machine *agent.Machine
	mu      sync.Mutex
	ends    map[string]Report
	oldest  []string // of ends, in order
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
	if cause := context.Cause(ctx); o.State == queue.Cancelled &&
		(errors.Is(cause, ErrLost) || errors.Is(cause, ErrLeaving)) {
		return r, cause
	}
	r.Output = strings.ToValidUTF8(string(w.Machine.Tail(t.Ref, outputKept)), "\uFFFD")
	r.Used = &frontback.Use{Seconds: r.Ended.Sub(r.Began).Seconds(), CPUSeconds: o.CPU.Seconds()}
	return r, nil
}

// Ended takes note of how a task ended, before that is reported: if it is not known whether the
// report has arrived, and the task comes again, it is reported again and not run.
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

// End is how a task ended here before.
func (w *Worker) End(marker string) (Report, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, known := w.ends[marker]
	return r, known
}
