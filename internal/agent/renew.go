package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// maxRefs is how many attempts one request releases or renews.
const maxRefs = 10_000

// renewing renews the leases each time it is woken, and again until the server answers. It does so beside
// the reports: one that the server refuses, or takes long over, does not let leases end.
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

// patience is the next pause before a request is sent again: several fit into a lease, also into a short
// one, as each may show that tasks can go on past its end.
func (a *Agent) patience(again *wait.Backoff) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return min(again.Next(), a.ttl/5)
}

// renewOnce renews the leases if it is time to. It returns false if it has to be done
// again.
func (a *Agent) renewOnce(ctx context.Context) bool {
	a.mu.Lock()
	session, due := a.session, a.renewNow
	a.renewNow = false
	var refs []queue.Ref
	if due {
		for ref := range a.tasks {
			refs = append(refs, ref)
		}
	}
	a.mu.Unlock()
	for len(refs) > 0 {
		n := min(len(refs), maxRefs)
		sent := time.Now()
		r, ok := a.send(ctx, api.ReportRequest{Session: session, Renew: refs[:n]}, sent)
		if !ok {
			a.mu.Lock()
			a.renewNow = true
			a.mu.Unlock()
			return false
		}
		a.renewed(refs[:n], r.Renew, sent)
		refs = refs[n:]
	}
	return true
}

// send sends renewals now; it returns false if that has to be done again.
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
	return r, err == nil && !r.Rejoin // the poll will join again
}

// notReported notes that the server could not be told something.
func (a *Agent) notReported(err error) {
	if errors.Is(err, api.ErrUnreachable) {
		a.server.Fail(err)
	} else {
		a.unreported.Fail(err)
	}
}

// renewed notes which leases last longer now, and ends tasks that are not ours any more.
// A lease counts from when we asked, not from when the answer came.
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
		} else if errors.Is(errs[i].Err(), queue.ErrStaleAttempt) || errors.Is(errs[i].Err(), queue.ErrNotFound) {
			t.kill("the lease was lost")
		}
	}
}

// renew renews the leases in time, and kills what could not be renewed before it may
// be run by someone else.
func (a *Agent) renew(ctx context.Context) {
	last := time.Now()
	for {
		a.mu.Lock()
		ttl := a.ttl
		a.mu.Unlock()
		margin := min(ttl/10, 2*time.Second)
		if !wait.For(ctx, max(margin/3, 10*time.Millisecond)) { // several looks fit into the margin
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
				// The server may come back before anybody has noticed: nobody cancelled the task.
				t.back = true
				t.kill("the lease could not be renewed in time")
			}
		}
		a.mu.Unlock()
	}
}
