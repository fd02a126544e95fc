package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// maxRefs is the largest number of attempts that one request renews or releases.
const maxRefs = 10_000

// renewing renews the leases each time it is woken, and tries again until the server answers. It runs beside
// report, so that leases do not end because the server refuses a report or is slow to answer it.
func (a *Agent) renewing(ctx context.Context) {
	again := wait.Backoff{First: 50 * time.Millisecond, Max: 2 * time.Second}
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.due:
		}
		for !a.renewOnce(ctx) {
			if !wait.For(ctx, a.patience(&again)) {
				return
			}
		}
		again.Reset()
	}
}

// patience returns the next pause before a request is sent again. The pauses are short compared with a lease, so that
// the agent sends several requests within one lease: each request may show that tasks can continue past the end of
// their leases.
func (a *Agent) patience(again *wait.Backoff) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return min(again.Next(), a.ttl/5)
}

// renewOnce renews the leases if they are due. It returns false if the caller must try again.
func (a *Agent) renewOnce(ctx context.Context) bool {
	a.mu.Lock()
	session, due := a.session, a.renewNow
	a.renewNow = false
	var refs []queue.Ref
	var running []*process.Process
	if due {
		for ref, t := range a.tasks {
			refs, running = append(refs, ref), append(running, t.process)
		}
	}
	a.mu.Unlock()
	used := measured(running)
	for len(refs) > 0 {
		n := min(len(refs), maxRefs)
		sent := time.Now()
		r, ok := a.send(ctx, api.ReportRequest{Session: session, Renew: refs[:n], Used: used[:n]}, sent)
		if !ok {
			a.mu.Lock()
			a.renewNow = true
			a.mu.Unlock()
			return false
		}
		a.renewed(refs[:n], r.Renew, sent)
		refs, used = refs[n:], used[n:]
	}
	return true
}

// measured returns what tasks use.
func measured(running []*process.Process) []views.Used {
	var out []views.Used
	for _, u := range process.Measure(running) {
		out = append(out, views.Used{CPU: u.CPU.Seconds(), Memory: u.Memory, Elapsed: u.Elapsed.Seconds()})
	}
	return out
}

// send sends renewals; it returns false if the caller must send them again.
func (a *Agent) send(ctx context.Context, req api.ReportRequest, now time.Time) (*api.ReportResponse, bool) {
	r, err := a.options.Client.Report(ctx, a.options.Name, req)
	if err != nil && ctx.Err() == nil {
		a.notReported(fmt.Errorf("renew leases: %w", err))
		if endsNoLease(err) {
			a.outlast(now)
		}
	}
	if err == nil {
		a.server.Answer()
		a.unreported.Answer()
	}
	return r, err == nil && !r.Rejoin // poll will join again
}

// notReported records that a request to the server failed.
func (a *Agent) notReported(err error) {
	if errors.Is(err, api.ErrUnreachable) {
		a.server.Fail(err)
	} else {
		a.unreported.Fail(err)
	}
}

// renewed extends the leases that were renewed, and ends tasks that the agent has lost. A lease counts from
// the instant of the request, not from that of the answer.
func (a *Agent) renewed(refs []queue.Ref, errs []*api.Error, asked time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, ref := range refs {
		t := a.tasks[ref]
		if t == nil || i >= len(errs) {
			continue
		}
		if errs[i] == nil {
			t.until = asked.Add(a.ttl)
		} else if lost(errs[i].Err()) {
			t.kill("the lease was lost")
		}
	}
}

// renew wakes the function "renewing" in time. If the lease of a task could not be renewed, renew kills the task
// before another agent may run it.
func (a *Agent) renew(ctx context.Context) {
	last := time.Now()
	for {
		a.mu.Lock()
		ttl := a.ttl
		a.mu.Unlock()
		margin := min(ttl/10, 2*time.Second)
		if !wait.For(ctx, max(margin/3, 10*time.Millisecond)) { // check several times within the margin
			return
		}
		a.mu.Lock()
		if time.Since(last) >= ttl/3 {
			a.renewNow, last = true, time.Now()
			wait.Wake(a.due)
		}
		for ref, t := range a.tasks {
			if !t.until.IsZero() && time.Until(t.until) < margin && t.process != nil {
				a.log.Error("the lease could not be renewed in time; killing the task", "task", ref)
				// The server may come back before it has ended the lease. Nobody canceled the task, so report it
				// as released, not as canceled.
				t.back = true
				t.kill("the lease could not be renewed in time")
			}
		}
		a.mu.Unlock()
	}
}

// lost reports whether an error says that an attempt no longer belongs to this agent.
func lost(err error) bool {
	return errors.Is(err, queue.ErrStaleAttempt) || errors.Is(err, queue.ErrNotFound)
}
