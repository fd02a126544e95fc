package bridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
)

// begin makes an item of a lease: where it goes is decided here. It returns nil if that
// cannot be.
func (b *Bridge) begin(l api.Lease, now time.Time) *item {
	it := &item{row: &row{seq: b.seq + 1, marker: marker(b.o.Name), lease: l, priority: b.o.Level, submitted: now}, live: true, untold: true}
	if b.book != nil {
		g := b.o.Groups
		d, err := b.book.Submit(frontback.Job{ID: it.seq, Group: g.Group(l.Job.Pool), Estimate: g.estimate(&l, b.unit)}, now)
		if err != nil {
			b.refuse(l, err.Error())
			return nil
		}
		d.Job = l.JobID
		it.decision, it.priority = &d, d.Priority
		b.hold(it)
	}
	b.seq++
	return it
}

// hold takes over what the book has of an item.
func (b *Bridge) hold(it *item) {
	it.held = nil
	if b.book == nil {
		return
	}
	if h, known := b.book.Held(it.seq); known {
		it.held = &h
	}
}

// marker is a new marker.
func marker(node string) string { return markerPrefix(node) + strings.ToLower(rand.Text()) }

// markerPrefix begins all markers of a bridge: the name of the node, as far as it is made of
// letters and digits.
func markerPrefix(node string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, node)
	return "fl-" + word[:min(len(word), 30)] + "-"
}

// minPause is how long the QS is left alone after it did not take something.
const minPause = 200 * time.Millisecond

// submits submits what there is, in its order, until ctx ends.
func (b *Bridge) submits(ctx context.Context) {
	pause := time.Duration(0)
	for {
		b.mu.Lock()
		idle := len(b.send) == 0
		b.mu.Unlock()
		switch {
		case idle && pause == 0:
			if !wait(ctx, b.work, time.Hour) {
				return
			}
		case pause > 0: // what is new is tried before, but not all the time
			if !sleep(ctx, minPause) || !wait(ctx, b.work, pause) {
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

// submitOnce submits a batch. It returns false if the QS does not take what there is now.
func (b *Bridge) submitOnce(ctx context.Context) bool {
	b.mu.Lock()
	var unsure, batch []*item
	for _, it := range b.send {
		if it.unsure && len(unsure) < maxLook {
			unsure = append(unsure, it)
		}
	}
	b.mu.Unlock()
	// What may be there is looked for first, or it would come behind what came later. Of what
	// stays unsure the others do not wait.
	ok := len(unsure) == 0 || b.find(ctx, unsure)
	b.mu.Lock()
	for _, it := range b.send {
		if !it.unsure && len(batch) < b.o.Batch {
			it.sending = true
			batch = append(batch, it)
		}
	}
	b.mu.Unlock()
	return (len(batch) == 0 || b.put(ctx, batch)) && ok
}

// find looks for submissions whose reply was lost. What is not there is sent again.
func (b *Bridge) find(ctx context.Context, unsure []*item) bool {
	statuses, err := b.look(ctx, unsure)
	if err != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	settled := true
	var changed []*item
	for i, it := range unsure {
		st := statuses[i]
		switch st.Phase {
		case Unsure:
			b.hear(it, st)
			settled = false
		case Absent:
			it.unsure = false
			b.log.Info("a submission did not arrive; it is sent again", "task", it.lease.Ref, "marker", it.marker)
		default:
			it.unsure, it.stage, it.id, it.untold = false, sent, st.ID, true
			b.log.Info("found a submission whose reply was lost", "task", it.lease.Ref, "id", it.id)
			b.see(it, st)
			changed = append(changed, it)
		}
	}
	if b.change(changed, nil) != nil {
		return false
	}
	b.keepUnsent()
	b.dropUnsent()
	poke(b.news)
	poke(b.follow)
	return settled
}

// put submits a batch, and writes down what the QS says to it.
func (b *Bridge) put(ctx context.Context, batch []*item) bool {
	all := make([]Submission, len(batch))
	for i, it := range batch {
		j := it.lease.Job.ToJob()
		j.Env = b.leaveTrail(j.Env)
		j.ID, j.User, j.Tasks = it.lease.JobID, it.lease.User, it.lease.Tasks
		all[i] = Submission{Marker: it.marker, Priority: it.priority, Job: &j, Ref: it.lease.Ref, Number: it.lease.Number}
	}
	call, cancel := context.WithTimeout(ctx, b.o.Patience)
	receipts, err := b.o.QS.Submit(call, all)
	cancel()
	if err == nil && len(receipts) != len(all) {
		err = fmt.Errorf("%d receipts for %d submissions", len(receipts), len(all))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
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
			it.stage, it.id, it.status, it.untold = sent, r.ID, Status{Phase: Pending, ID: r.ID}, true
			changed = append(changed, it)
		case errors.Is(r.Err, ErrUnsure):
			it.unsure, ok = true, false
		case errors.Is(r.Err, fairlead.ErrInvalid):
			b.finish(it, Status{Phase: Failed, ExitCode: -1, Error: b.o.System + " does not take it: " + r.Err.Error()})
			it.end.Final = true
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
	if b.change(changed, nil) != nil {
		return false
	}
	b.keepUnsent()
	b.dropUnsent()
	poke(b.news)
	poke(b.follow)
	return ok
}

// keepUnsent takes out of the line what was sent.
func (b *Bridge) keepUnsent() {
	var keep []*item
	for _, it := range b.send {
		if it.stage == intent {
			keep = append(keep, it)
		}
	}
	b.send = keep
}

// answered tells whether the QS answers.
func (b *Bridge) answered(err error) {
	switch {
	case errors.Is(err, context.Canceled): // we end
	case err != nil:
		b.o.Away.Fail(err)
	default:
		b.o.Away.Answer()
	}
}
