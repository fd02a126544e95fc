package agent

import (
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// start begins a task, unless it is known already: a lease is sent again until the
// server knows that it arrived.
func (a *Agent) start(l api.Lease) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ack = append(a.ack, l.Ref)
	if a.tasks[l.Ref] != nil || a.reported(l.Ref) {
		return
	}
	if a.draining {
		a.release = append(a.release, l.Ref)
		a.wakeReporter()
		return
	}
	t := &task{lease: l, until: time.Now().Add(a.ttl), halted: make(chan struct{})}
	a.tasks[l.Ref] = t
	a.begun.Go(func() { a.run(t) })
}

// reported tells whether the end of an attempt waits to be reported.
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
	a.mu.Lock()
	delete(a.tasks, t.lease.Ref)
	if t.back && o.State == queue.Cancelled {
		a.release = append(a.release, t.lease.Ref)
	} else {
		f := api.FromResult(t.lease.Ref, o)
		f.At = time.Now()
		a.finished = append(a.finished, f)
	}
	a.mu.Unlock()
	a.wakeReporter()
	wait.Wake(a.idle)
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

// stop ends a task for the server.
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
