package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// minPause is how long the bridge waits after the QS refused something.
const minPause = 200 * time.Millisecond

// submits submits the waiting items in their order, until ctx ends.
func (b *Bridge) submits(ctx context.Context) {
	pause := time.Duration(0)
	for {
		b.state.mu.Lock()
		idle := len(b.state.send) == 0
		b.state.mu.Unlock()
		switch {
		case idle && pause == 0:
			if !wait.On(ctx, b.state.signals.work, time.Hour) {
				return
			}
		case pause > 0: // a new item ends the pause early, but not before minPause
			if !wait.For(ctx, minPause) || !wait.On(ctx, b.state.signals.work, pause) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		if b.submitOnce(ctx) {
			pause = 0
		} else {
			pause = min(max(2*pause, minPause), 10*time.Second)
		}
	}
}

// submitOnce submits a batch. It returns false if the QS does not take everything now.
func (b *Bridge) submitOnce(ctx context.Context) bool {
	b.state.mu.Lock()
	var unsure, batch []*item
	for _, it := range b.state.send {
		if it.unsure && len(unsure) < maxLook {
			unsure = append(unsure, it)
		}
	}
	b.state.mu.Unlock()
	// Look for the unsure items first. If such an item must be sent again, it goes before items that came
	// later. Items that stay unsure do not delay the others.
	ok := len(unsure) == 0 || b.find(ctx, unsure)
	b.state.mu.Lock()
	for _, it := range b.state.send {
		if !it.unsure && len(batch) < b.o.Batch {
			it.sending = true
			batch = append(batch, it)
		}
	}
	b.state.mu.Unlock()
	return (len(batch) == 0 || b.put(ctx, batch)) && ok
}

// find looks for submissions whose reply was lost. The bridge sends again the submissions that the QS does
// not have.
func (b *Bridge) find(ctx context.Context, unsure []*item) bool {
	statuses, err := b.look(ctx, unsure)
	if err != nil {
		return false
	}
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	settled := true
	var changed []*item
	for i, it := range unsure {
		st := statuses[i]
		switch st.Phase {
		case Unsure:
			b.state.hear(it, st)
			settled = false
		case Absent:
			it.unsure = false
			b.log.Info("a submission did not arrive; it is sent again", "task", it.lease.Ref, "marker", it.marker)
		default:
			it.unsure, it.stage, it.id, it.unreported = false, sent, st.ID, true
			b.log.Info("found a submission whose reply was lost", "task", it.lease.Ref, "id", it.id)
			b.state.see(it, st)
			changed = append(changed, it)
		}
	}
	if b.state.change(changed, nil) != nil {
		return false
	}
	b.state.keepUnsent()
	b.state.dropUnsent()
	wait.Wake(b.state.signals.news)
	wait.Wake(b.state.signals.follow)
	return settled
}

// put submits a batch, and saves the answers of the QS.
func (b *Bridge) put(ctx context.Context, batch []*item) bool {
	all := make([]Submission, len(batch))
	for i, it := range batch {
		j := it.lease.Job.ToJob()
		j.Env = b.state.station().leave(j.Env)
		j.ID, j.User, j.Tasks = it.lease.JobID, it.lease.User, it.lease.Tasks
		all[i] = Submission{Marker: it.marker, Priority: it.priority, Job: &j, Ref: it.lease.Ref, Number: it.lease.Number}
	}
	call, cancel := context.WithTimeout(ctx, b.o.Patience)
	receipts, err := b.o.QS.Submit(call, all)
	cancel()
	if err == nil && len(receipts) != len(all) {
		err = fmt.Errorf("%d receipts for %d submissions", len(receipts), len(all))
	}
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	b.answered(err)
	var changed []*item
	ok := err == nil
	refused, why := 0, error(nil)
	for i, it := range batch {
		it.sending = false
		if err != nil {
			it.unsure = true
			continue
		}
		switch r := receipts[i]; {
		case r.Err == nil:
			it.stage, it.id, it.status, it.unreported = sent, r.ID, Status{Phase: Pending, ID: r.ID}, true
			changed = append(changed, it)
		case errors.Is(r.Err, ErrUnsure):
			it.unsure, ok = true, false
		case errors.Is(r.Err, queue.ErrInvalid):
			b.state.finish(it, Status{Phase: Failed, ExitCode: -1, Error: b.o.System + " refuses it: " + r.Err.Error()})
			it.end.Refused = string(queue.RefusedJob)
			changed = append(changed, it)
		default:
			ok = false
			refused++
			why = cmp.Or(why, r.Err)
		}
	}
	if refused > 0 {
		b.refusing.Fail(fmt.Errorf("%d of %d jobs: %w", refused, len(batch), why))
	} else if ok {
		b.refusing.Answer()
	}
	if b.state.change(changed, nil) != nil {
		return false
	}
	b.state.keepUnsent()
	b.state.dropUnsent()
	wait.Wake(b.state.signals.news)
	wait.Wake(b.state.signals.follow)
	return ok
}
