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

// Limits of one report: the largest is far below the maximum that the server reads (16 MiB).
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
	for {
		a.mu.Lock()
		req := api.ReportRequest{
			Session: a.session, Finished: aged(a.finished[:min(len(a.finished), most)], time.Now()),
			Release: refsOf(a.release[:min(len(a.release), maxRefs)]), Drain: a.draining && !a.drainReported,
		}
		a.mu.Unlock()
		if len(req.Finished)+len(req.Release) == 0 && !req.Drain {
			return true
		}
		r, err := a.options.Client.Report(ctx, a.options.Name, req)
		switch {
		case errors.Is(err, queue.ErrInvalid) && len(req.Finished) > 1:
			most = 1 // the server refused one of them; report the others without it
			continue
		case errors.Is(err, queue.ErrInvalid) && len(req.Finished) == 1:
			r, err = a.plainly(ctx, req)
		}
		if err != nil {
			if ctx.Err() == nil {
				a.notReported(fmt.Errorf("report ends: %w", err))
			}
			return false
		}
		a.unreported.Answer()
		if r.Rejoin { // poll will join again
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

func refsOf(all []given) []queue.Ref {
	refs := make([]queue.Ref, len(all))
	for i, g := range all {
		refs[i] = g.Ref
	}
	return refs
}

// aged returns the ends with their ages at now.
func aged(ends []api.Finished, now time.Time) []api.Finished {
	out := slices.Clone(ends)
	for i := range out {
		if at := out[i].At; !at.IsZero() && now.After(at) {
			out[i].EndedAgo = now.Sub(at).Seconds()
		}
	}
	return out
}

// plainly reports an end that the server refused again, with only its state, exit code and age. If the server
// refuses that as well, plainly drops the end: the server would always refuse it, and later ends would wait
// behind it. The server then considers the task lost when its lease is over.
func (a *Agent) plainly(ctx context.Context, req api.ReportRequest) (*api.ReportResponse, error) {
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
		a.log.Error("the server does not take the end of a task; giving it up", "task", f.Ref, "error", err)
		return &api.ReportResponse{}, nil
	}
	return r, err
}
