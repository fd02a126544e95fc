package agent

import (
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// start begins a task. It does nothing if the agent has the task already: the server repeats a lease until it knows
// that the lease arrived.
func (a *Agent) start(l api.Lease) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ack = append(a.ack, l.Ref)
	if a.tasks[l.Ref] != nil || a.reported(l.Ref) {
		return
	}
	if a.draining {
		a.release = append(a.release, given{l.Ref, l.Since})
		a.wakeReporter()
		return
	}
	t := &task{lease: l, until: time.Now().Add(a.ttl), halted: make(chan struct{})}
	a.tasks[l.Ref] = t
	a.begun.Go(func() { a.run(t) })
}

// reported reports whether the end of an attempt waits to be reported.
func (a *Agent) reported(ref queue.Ref) bool {
	for _, f := range a.finished {
		if f.Ref == ref {
			return true
		}
	}
	return false
}

// run runs a task to its end.
func (a *Agent) run(t *task) {
	var o queue.Outcome
	if gpus, ok := a.takeGPUs(t); ok {
		o = a.perform(t, gpus)
		a.gpus.Give(gpus)
	} else {
		o = queue.Outcome{State: queue.Cancelled, ExitCode: -1, Cause: t.stop.Cause}
	}
	o.Cause = bounded.Text(o.Cause, maxCause)
	if o.State == queue.Failed {
		a.log.Info("a task failed", "job", t.lease.JobID, "task", t.lease.Task, "attempt", t.lease.Attempt,
			"user", t.lease.User, "exit", o.ExitCode, "cause", o.Cause)
	}
	a.note(t, o)
	a.wakeReporter()
	wait.Wake(a.idle)
}

// note records how a task ended, for the next report.
func (a *Agent) note(t *task, o queue.Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case t.foreign: // another task may have its number
	case t.back && o.State == queue.Cancelled:
		delete(a.tasks, t.lease.Ref)
		a.release = append(a.release, t.given())
	default:
		delete(a.tasks, t.lease.Ref)
		f := api.FromResult(t.lease.Ref, o)
		f.Since, f.At = t.lease.Since, time.Now()
		a.finished = append(a.finished, f)
	}
}

// perform starts the process of a task and waits for its end.
func (a *Agent) perform(t *task, gpus []gpu.Device) queue.Outcome {
	p, err := a.launch(&t.lease, gpus)
	defer a.removeScript(&t.lease)
	if err != nil {
		a.log.Warn("a task could not be started", "task", t.lease.Ref, "error", err)
		return unstarted(err)
	}
	a.mu.Lock()
	t.process = p
	if t.stop != nil {
		p.Stop(t.stop.Cause, queue.Cancelled)
	}
	a.mu.Unlock()
	return p.Wait()
}

// stop ends a task at the request of the server.
func (a *Agent) stop(s api.Stop) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tasks[s.Ref]
	if t == nil {
		return
	}
	if t.process == nil {
		t.halt(s)
		return
	}
	t.process.Stop(s.Cause, queue.Cancelled)
}
