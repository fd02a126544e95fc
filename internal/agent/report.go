package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Limits of one report. The largest report is far below the maximum that the server reads (16 MiB).
const (
	maxCause   = 4 << 10 // bytes of the cause of one outcome
	maxResults = 200
)

// report reports to the server which tasks have ended.
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

// reportOnce reports all ends and releases, in parts. It returns false if the caller must try again; the
// agent keeps everything that the server has not acknowledged.
func (a *Agent) reportOnce(ctx context.Context) bool {
	most := maxResults
	again := map[queue.Ref]error{} // ends that the server could not record, though it recorded others
	for {
		req := a.unreportedEnds(most, again)
		if len(req.Finished)+len(req.Release) == 0 && !req.Drain {
			return a.allRecorded(again)
		}
		r, err := a.options.Client.Report(ctx, a.options.Name, req)
		switch {
		case errors.Is(err, queue.ErrInvalid) && len(req.Finished) > 1:
			most = 1 // the server refused one of them; report the others without it
			continue
		case errors.Is(err, queue.ErrInvalid) && len(req.Finished) == 1:
			r, err = a.reportPlain(ctx, req)
		}
		if err != nil {
			if ctx.Err() == nil {
				a.notReported(fmt.Errorf("report ends: %w", err))
			}
			return false
		}
		if r.Rejoin { // poll will join again
			a.unreported.Answer()
			return false
		}
		a.acknowledged(req, r, again)
		if len(again) == 0 {
			a.unreported.Answer()
		}
	}
}

// unreportedEnds returns a report of unreported ends, at most "most" of them, without the ends in the argument "again".
func (a *Agent) unreportedEnds(most int, again map[queue.Ref]error) api.ReportRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ends []api.Finished
	for _, f := range a.finished {
		if len(ends) == most {
			break
		}
		if again[f.Ref] == nil {
			ends = append(ends, f)
		}
	}
	return api.ReportRequest{
		Session: a.session, Finished: aged(ends, time.Now()),
		Release: refsOf(a.release[:min(len(a.release), maxRefs)]), Drain: a.draining && !a.drainReported,
	}
}

// acknowledged forgets everything in a report that the server has accepted. It adds the ends that the server could not
// record to the argument "again".
func (a *Agent) acknowledged(req api.ReportRequest, r *api.ReportResponse, again map[queue.Ref]error) {
	over := make(map[queue.Ref]bool, len(req.Finished))
	for i, f := range req.Finished {
		var e *api.Error
		if i < len(r.Finished) {
			e = r.Finished[i]
		}
		if err := e.Err(); err != nil && !final(err) {
			again[f.Ref] = fmt.Errorf("the end of task %v: %w", f.Ref, err)
			continue
		}
		if e != nil {
			a.log.Warn("the server refused the end of a task", "task", f.Ref, "error", e.Detail)
		}
		over[f.Ref] = true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finished = slices.DeleteFunc(a.finished, func(f api.Finished) bool { return over[f.Ref] })
	a.release = a.release[len(req.Release):]
	a.drainReported = a.drainReported || req.Drain
}

// final reports whether the server would give the same answer if the same end were reported again.
func final(err error) bool {
	return lost(err) || errors.Is(err, queue.ErrInvalid)
}

// allRecorded returns true if the server has recorded all ends that were reported. Otherwise it logs, for one of the
// ends that were not recorded, why it was not.
func (a *Agent) allRecorded(again map[queue.Ref]error) bool {
	for _, err := range again {
		a.unreported.Fail(err)
		return false
	}
	return true
}

func refsOf(all []given) []queue.Ref {
	refs := make([]queue.Ref, len(all))
	for i, g := range all {
		refs[i] = g.Ref
	}
	return refs
}

// aged returns the ends with their ages at the present instant.
func aged(ends []api.Finished, now time.Time) []api.Finished {
	out := slices.Clone(ends)
	for i := range out {
		if at := out[i].At; !at.IsZero() && now.After(at) {
			out[i].EndedAgo = now.Sub(at).Seconds()
		}
	}
	return out
}

// reportPlain reports an end again that the server refused, now with only its state, exit code and age. If the server
// refuses that as well, reportPlain drops the end, because the server would refuse it forever, and later ends would
// have to wait behind it. The server then considers the task lost when its lease is over.
func (a *Agent) reportPlain(ctx context.Context, req api.ReportRequest) (*api.ReportResponse, error) {
	f := req.Finished[0]
	plain := req
	plain.Finished = []api.Finished{
		{
			Ref: f.Ref, State: f.State, ExitCode: f.ExitCode, EndedAgo: f.EndedAgo,
			Cause: "the report of how it ended was refused",
		},
	}
	r, err := a.options.Client.Report(ctx, a.options.Name, plain)
	if errors.Is(err, queue.ErrInvalid) {
		a.log.Error("the server refuses the end of a task; giving up", "task", f.Ref, "error", err)
		return &api.ReportResponse{}, nil
	}
	return r, err
}
