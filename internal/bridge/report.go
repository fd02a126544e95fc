package bridge

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

// reports renews leases, and reports ended tasks and the states of the other tasks to the server, until ctx
// ends.
func (b *Bridge) reports(ctx context.Context) {
	again := wait.Backoff{First: 50 * time.Millisecond, Max: 5 * time.Second}
	for {
		b.state.mu.Lock()
		due := time.Until(b.state.renewed.Add(b.state.ttl / 3))
		b.state.mu.Unlock()
		if !wait.On(ctx, b.state.signals.news, max(due, 10*time.Millisecond)) {
			return
		}
		for !b.reportAll(ctx) {
			if !wait.For(ctx, again.Next()) {
				return
			}
		}
		again.Reset()
		b.unreported.Answer()
	}
}

// notReported records that a report failed: the server is away, or refuses the report.
func (b *Bridge) notReported(err error) {
	if errors.Is(err, api.ErrUnreachable) {
		b.server.Fail(err)
	} else {
		b.unreported.Fail(err)
	}
}

// reportAll reports everything that the server does not know. It returns false if the caller must try again.
func (b *Bridge) reportAll(ctx context.Context) bool {
	if !b.renew(ctx) {
		return false
	}
	most := maxEnds
	for {
		b.state.mu.Lock()
		release := b.state.release[:min(len(b.state.release), maxRefs)]
		req := api.ReportRequest{Session: b.state.session, LeaseSeconds: b.o.Lease.Seconds(), Release: release}
		refused := b.state.refused[:min(len(b.state.refused), most)]
		req.Finished = slices.Clone(refused)
		reported := b.state.ends(&req, most)
		notes := b.state.notes(&req)
		b.state.mu.Unlock()
		if len(req.Finished)+len(req.Release)+len(req.Notes) == 0 {
			return true
		}
		r, err := b.o.Client.Report(ctx, b.o.Name, req)
		switch {
		case errors.Is(err, queue.ErrInvalid) && len(req.Finished) > 1:
			most = 1 // the server refused one of them; find out which
			continue
		case errors.Is(err, queue.ErrInvalid) && len(req.Finished) == 1 && req.Finished[0].Cause != plainCause:
			b.state.plainly(req.Finished[0].Ref)
			continue
		case err != nil:
			if ctx.Err() == nil {
				b.notReported(fmt.Errorf("a report did not arrive: %w", err))
			}
			return false
		case r.Rejoin: // polls will join again
			return false
		}
		if b.reported(req, r, len(refused), reported, notes) != nil {
			return false
		}
	}
}

// reported removes everything that the server has accepted from the things to report.
func (b *Bridge) reported(req api.ReportRequest, r *api.ReportResponse, refused int, reported []*item,
	notes []*item) error {
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	b.state.release = b.state.release[len(req.Release):]
	b.state.refused = b.state.refused[refused:]
	for i, it := range reported {
		e := error(nil)
		if at := refused + i; at < len(r.Finished) {
			e = r.Finished[at].Err()
		}
		switch {
		case it.end.Ref != req.Finished[refused+i].Ref: // it has another attempt now
		case errors.Is(e, queue.ErrStaleAttempt), errors.Is(e, queue.ErrNotFound):
			it.stale, it.live, it.adoptable = true, false, false
			wait.Wake(b.state.signals.settle)
		default:
			if e != nil {
				b.log.Warn("the server refused the end of a task", "task", it.lease.Ref, "error", e)
			}
			delete(b.state.items, it.task())
			b.state.over = append(b.state.over, it)
		}
	}
	for i, it := range notes {
		if sameNote(b.state.note(it), req.Notes[i].Bridged) {
			it.unreported, it.says = false, false
		}
	}
	if len(reported) > 0 {
		wait.Wake(b.state.signals.follow)
	}
	return nil
}

// renew renews the leases if they are due. It returns false if the caller must try again.
func (b *Bridge) renew(ctx context.Context) bool {
	b.state.mu.Lock()
	due := time.Since(b.state.renewed) >= b.state.ttl/3
	session := b.state.session
	var refs []queue.Ref
	for _, it := range b.state.items {
		if due && it.live {
			refs = append(refs, it.lease.Ref)
		}
	}
	b.state.mu.Unlock()
	for first := true; due && (first || len(refs) > 0); first = false {
		n := min(len(refs), maxRefs)
		r, err := b.o.Client.Report(ctx, b.o.Name, api.ReportRequest{
			Session: session, LeaseSeconds: b.o.Lease.Seconds(), Renew: refs[:n],
		})
		if err != nil || r.Rejoin {
			if err != nil && ctx.Err() == nil {
				b.notReported(fmt.Errorf("leases could not be renewed: %w", err))
			}
			return false
		}
		b.state.lapsed(refs[:n], r.Renew)
		refs = refs[n:]
	}
	if due {
		b.state.mu.Lock()
		b.state.renewed = time.Now()
		b.state.mu.Unlock()
	}
	return true
}
