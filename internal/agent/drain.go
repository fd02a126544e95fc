package agent

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// drain refuses new tasks, waits for running tasks, and releases the tasks that do not end in time.
func (a *Agent) drain(ctx context.Context) {
	a.log.Info("draining", "tasks", a.count())
	a.mu.Lock()
	a.draining = true
	a.mu.Unlock()
	a.wakeReporter()
	timeout := time.NewTimer(a.options.Drain)
	defer timeout.Stop()
	for a.count() > 0 {
		select {
		case <-a.idle:
			continue
		case <-timeout.C:
			a.interrupt()
			continue
		}
	}
	// Report the ends and releases that are left before the agent leaves.
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		a.wakeReporter()
		a.mu.Lock()
		left := len(a.finished) + len(a.release)
		a.mu.Unlock()
		if left == 0 || !wait.For(ctx, 10*time.Millisecond) {
			break
		}
	}
	leave, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	a.mu.Lock()
	bye := api.ReportRequest{Session: a.session, Leave: true}
	a.mu.Unlock()
	if _, err := a.options.Client.Report(leave, a.options.Name, bye); err != nil {
		a.log.Warn("could not report to the server that the agent leaves", "error", err)
	}
}

// interrupt stops the tasks that are still running when the time to drain is over. They will run again elsewhere.
func (a *Agent) interrupt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.tasks {
		t.back = true
		if t.process != nil {
			t.process.Stop("the agent stops", queue.Cancelled)
		} else {
			t.halt(api.Stop{Ref: t.lease.Ref, Cause: "the agent stops"})
		}
	}
}
