package agent

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// What goes into one request: few enough that the largest is far below what the server
// reads (16 MiB).
const (
	maxCause   = 4 << 10 // bytes of the cause of one outcome
	maxResults = 200
	maxRefs    = 10_000 // released or renewed
)

// report tells the server which tasks have ended, and renews the leases. The leases go first
// and alone: an error in an outcome must not let them end.
func (a *Agent) report(ctx context.Context) {
	again := wait.Backoff{First: 50 * time.Millisecond, Max: 2 * time.Second}
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.news:
		}
		for !a.reportOnce(ctx) {
			if !wait.For(ctx, again.Next()) {
				return
			}
		}
		again.Reset()
	}
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
		r, ok := a.send(ctx, api.ReportRequest{Session: session, Renew: refs[:n]})
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

// reportOnce sends what there is, in parts, and renews between them. It returns false if it has to be sent
// again: what the server has not acknowledged is kept.
func (a *Agent) reportOnce(ctx context.Context) bool {
	most := maxResults
	for {
		if !a.renewOnce(ctx) {
			return false
		}
		a.mu.Lock()
		req := api.ReportRequest{
			Session: a.session, Finished: a.finished[:min(len(a.finished), most)],
			Release: a.release[:min(len(a.release), maxRefs)], Drain: a.draining && !a.drainReported,
		}
		a.mu.Unlock()
		if len(req.Finished)+len(req.Release) == 0 && !req.Drain {
			return true
		}
		r, err := a.options.Client.Report(ctx, a.options.Name, req)
		switch {
		case errors.Is(err, queue.ErrInvalid) && len(req.Finished) > 1:
			most = 1 // one of them is to blame; the others are reported without it
			continue
		case errors.Is(err, queue.ErrInvalid) && len(req.Finished) == 1:
			r, err = a.plainly(ctx, req)
		}
		if err != nil {
			if ctx.Err() == nil {
				a.log.Warn("a report did not arrive; trying again", "error", err)
			}
			return false
		}
		if r.Rejoin { // the poll will join again
			return false
		}
		a.mu.Lock()
		a.finished = a.finished[len(req.Finished):]
		a.release = a.release[len(req.Release):]
		a.drainReported = a.drainReported || req.Drain
		a.mu.Unlock()
		for i, e := range r.Finished {
			if e != nil && i < len(req.Finished) {
				a.log.Warn("the server refused the end of a task", "task", req.Finished[i].Ref, "error", e.Detail)
			}
		}
	}
}

// plainly reports an end that was refused as it was, with nothing but how it ended. If
// that is refused as well it is dropped: it would be for ever, and whatever ends later
// would wait behind it. The server takes the task for lost when its lease is over.
func (a *Agent) plainly(ctx context.Context, req api.ReportRequest) (*api.ReportResponse, error) {
	f := req.Finished[0]
	plain := req
	plain.Finished = []api.Finished{
		{Ref: f.Ref, State: f.State, ExitCode: f.ExitCode, Cause: "the report of how it ended was refused"},
	}
	r, err := a.options.Client.Report(ctx, a.options.Name, plain)
	if errors.Is(err, queue.ErrInvalid) {
		a.log.Error("the server does not take the end of a task; giving it up", "task", f.Ref, "error", err)
		return &api.ReportResponse{}, nil
	}
	return r, err
}

// send sends a report; it returns false if that has to be done again.
func (a *Agent) send(ctx context.Context, req api.ReportRequest) (*api.ReportResponse, bool) {
	r, err := a.options.Client.Report(ctx, a.options.Name, req)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("a report did not arrive; trying again", "error", err)
	}
	return r, err == nil && !r.Rejoin // the poll will join again
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
			a.wakeReporter()
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
