package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// What goes into one request: few enough that the largest is far below what the server reads.
const (
	maxCause = 4 << 10 // bytes
	maxEnds  = 200
	maxRefs  = 10_000
	maxNotes = 1000
)

// bounded cuts a text that may hold what somebody else wrote.
func bounded(text string) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= maxCause {
		return text
	}
	return strings.ToValidUTF8(text[:maxCause-3], "") + "..."
}

// reports renews leases, and tells the server what has ended and where the others are, until
// ctx ends.
func (b *Bridge) reports(ctx context.Context) {
	again := Backoff{First: 50 * time.Millisecond, Most: 5 * time.Second}
	for {
		b.mu.Lock()
		due := time.Until(b.renewed.Add(b.ttl / 3))
		b.mu.Unlock()
		if !wait(ctx, b.news, max(due, 10*time.Millisecond)) {
			return
		}
		for !b.reportAll(ctx) {
			if !sleep(ctx, again.Next()) {
				return
			}
		}
		again.Reset()
		b.unreported.Answer()
	}
}

// notReported notes that a report failed: the server is away, or does not take it.
func (b *Bridge) notReported(err error) {
	if errors.Is(err, api.ErrUnreachable) {
		b.server.Fail(err)
	} else {
		b.unreported.Fail(err)
	}
}

// reportAll tells the server everything that it does not know. It returns false if that has
// to be done again.
func (b *Bridge) reportAll(ctx context.Context) bool {
	if !b.renew(ctx) {
		return false
	}
	most := maxEnds
	for {
		b.mu.Lock()
		req := api.ReportRequest{Session: b.session, LeaseSeconds: b.o.Lease.Seconds(), Release: b.release[:min(len(b.release), maxRefs)]}
		refused := b.refused[:min(len(b.refused), most)]
		req.Finished = slices.Clone(refused)
		told := b.ends(&req, most)
		notes := b.notes(&req)
		b.mu.Unlock()
		if len(req.Finished)+len(req.Release)+len(req.Notes) == 0 {
			return true
		}
		r, err := b.o.Client.Report(ctx, b.o.Name, req)
		switch {
		case errors.Is(err, fairlead.ErrInvalid) && len(req.Finished) > 1:
			most = 1 // one of them is to blame
			continue
		case errors.Is(err, fairlead.ErrInvalid) && len(req.Finished) == 1 && req.Finished[0].Cause != plainCause:
			b.plainly(req.Finished[0].Ref)
			continue
		case err != nil:
			if ctx.Err() == nil {
				b.notReported(fmt.Errorf("a report did not arrive: %w", err))
			}
			return false
		case r.Rejoin: // the poll will join again
			return false
		}
		if b.reported(req, r, len(refused), told, notes) != nil {
			return false
		}
	}
}

// ends adds the ends that the server does not know to a request, and returns their items.
func (b *Bridge) ends(req *api.ReportRequest, most int) []*item {
	var told []*item
	for _, it := range b.items {
		if it.stage == ended && !it.stale && len(req.Finished) < most {
			told = append(told, it)
			req.Finished = append(req.Finished, *it.end)
		}
	}
	return told
}

// plainCause stands for what the server did not take.
const plainCause = "the report of how it ended was refused"

// plainly reduces the end of a task to how it ended.
func (b *Bridge) plainly(ref fairlead.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	plain := func(f *api.Finished) {
		*f = api.Finished{Ref: ref, State: f.State, ExitCode: f.ExitCode, Final: f.Final, Cause: plainCause, Began: f.Began, Ended: f.Ended}
	}
	if it := b.items[task{ref.JobID, ref.Task}]; it != nil && it.end != nil {
		plain(it.end)
	}
	for i := range b.refused {
		if b.refused[i].Ref == ref {
			plain(&b.refused[i])
		}
	}
}

// reported takes note of what the server has taken note of.
func (b *Bridge) reported(req api.ReportRequest, r *api.ReportResponse, refused int, told []*item, notes []*item) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release = b.release[len(req.Release):]
	b.refused = b.refused[refused:]
	for i, it := range told {
		e := error(nil)
		if at := refused + i; at < len(r.Finished) {
			e = r.Finished[at].Err()
		}
		switch {
		case it.end.Ref != req.Finished[refused+i].Ref: // it has another attempt by now
		case errors.Is(e, fairlead.ErrStaleAttempt), errors.Is(e, fairlead.ErrNotFound):
			it.stale, it.live, it.adoptable = true, false, false
			poke(b.settle)
		default:
			if e != nil {
				b.log.Warn("the server refused the end of a task", "task", it.lease.Ref, "error", e)
			}
			delete(b.items, it.task())
			b.over = append(b.over, it)
		}
	}
	for i, it := range notes {
		if sameNote(b.note(it), req.Notes[i].Bridged) {
			it.untold, it.says = false, false
		}
	}
	if len(told) > 0 {
		poke(b.follow)
	}
	return nil
}

// renew renews the leases if it is time to. It returns false if it has to be done again.
func (b *Bridge) renew(ctx context.Context) bool {
	b.mu.Lock()
	due := time.Since(b.renewed) >= b.ttl/3
	session := b.session
	var refs []fairlead.Ref
	for _, it := range b.items {
		if due && it.live {
			refs = append(refs, it.lease.Ref)
		}
	}
	b.mu.Unlock()
	for first := true; due && (first || len(refs) > 0); first = false {
		n := min(len(refs), maxRefs)
		r, err := b.o.Client.Report(ctx, b.o.Name, api.ReportRequest{Session: session, LeaseSeconds: b.o.Lease.Seconds(), Renew: refs[:n]})
		if err != nil || r.Rejoin {
			if err != nil && ctx.Err() == nil {
				b.notReported(fmt.Errorf("leases could not be renewed: %w", err))
			}
			return false
		}
		b.lapsed(refs[:n], r.Renew)
		refs = refs[n:]
	}
	if due {
		b.mu.Lock()
		b.renewed = time.Now()
		b.mu.Unlock()
	}
	return true
}

// lapsed notes which leases are ours no more. What becomes of their entries the server is
// asked: the task may be over, or about to be leased again.
func (b *Bridge) lapsed(refs []fairlead.Ref, errs []*api.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, ref := range refs {
		it := b.items[task{ref.JobID, ref.Task}]
		if it == nil || it.lease.Ref != ref || i >= len(errs) {
			continue
		}
		if err := errs[i].Err(); errors.Is(err, fairlead.ErrStaleAttempt) || errors.Is(err, fairlead.ErrNotFound) {
			it.live = false
			poke(b.settle)
		}
	}
}
