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
	again := map[queue.Ref]error{} // ends that the server could not record, though it recorded others
	for {
		b.state.mu.Lock()
		release := b.state.release[:min(len(b.state.release), maxRefs)]
		req := api.ReportRequest{Session: b.state.session, LeaseSeconds: b.o.Lease.Seconds(), Release: release}
		reported := b.state.ends(&req, most, again)
		notes := b.state.notes(&req)
		b.state.mu.Unlock()
		if len(req.Finished)+len(req.Release)+len(req.Notes) == 0 {
			return b.allRecorded(again)
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
		b.reported(req, r, reported, notes, again)
	}
}

// allRecorded returns true if the server has recorded all ends that were reported. Otherwise it logs one of the other
// ends.
func (b *Bridge) allRecorded(again map[queue.Ref]error) bool {
	for _, err := range again {
		b.notReported(err)
		return false
	}
	return true
}

// reported removes everything that the server has accepted from the list of unreported facts. It adds the ends that the
// server could not record to the argument "again".
func (b *Bridge) reported(req api.ReportRequest, r *api.ReportResponse, reported, notes []*item,
	again map[queue.Ref]error) {
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	b.state.release = b.state.release[len(req.Release):]
	refused := len(req.Finished) - len(reported)
	for i, f := range req.Finished {
		e := error(nil)
		if i < len(r.Finished) {
			e = r.Finished[i].Err()
		}
		switch {
		case e != nil && !lost(e) && !errors.Is(e, queue.ErrInvalid):
			again[f.Ref] = fmt.Errorf("the server could not record the end of task %v: %w", f.Ref, e)
		case i < refused:
			b.state.refused = slices.DeleteFunc(b.state.refused, func(x api.Finished) bool { return x.Ref == f.Ref })
		case reported[i-refused].end.Ref != f.Ref: // it has another attempt now
		case lost(e):
			it := reported[i-refused]
			it.stale, it.live, it.adoptable = true, false, false
			wait.Wake(b.state.signals.settle)
		default:
			it := reported[i-refused]
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
