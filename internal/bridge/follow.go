package bridge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
)

const (
	// maxLook is how many entries one call asks about.
	maxLook = 5000
	// cancelAgain is after what time an entry is cancelled once more that did not go.
	cancelAgain = 10 * time.Second
	// maxForgot is how often a task is submitted again that the QS forgets.
	maxForgot = 10
)

// follows looks what became of entries, until ctx ends: when the QS tells of changes, and
// from time to time. However many entries there are it is not asked all the time.
func (b *Bridge) follows(ctx context.Context) {
	changed := b.o.QS.Changed()
	every := b.o.Poll
	if changed != nil {
		every *= 10 // it tells
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-b.follow:
		case <-timer.C:
		}
		began := time.Now()
		b.followOnce(ctx)
		took := time.Since(began)
		pause := b.o.Poll / 10 // what comes together is asked for together
		if changed == nil {
			pause = b.o.Poll
		}
		if !sleep(ctx, max(pause, 4*took)) {
			return
		}
		timer.Reset(every)
	}
}

// followOnce asks about all entries once, and takes out what is to go.
func (b *Bridge) followOnce(ctx context.Context) {
	b.mu.Lock()
	var all []*item
	for _, it := range b.items {
		if it.stage == sent {
			all = append(all, it)
		}
	}
	for _, it := range b.leaving {
		if it.stage == sent {
			all = append(all, it)
		}
	}
	b.mu.Unlock()
	for len(all) > 0 && ctx.Err() == nil {
		n := min(len(all), maxLook)
		statuses, err := b.look(ctx, all[:n])
		if err != nil {
			break
		}
		if b.seeAll(all[:n], statuses) != nil {
			return
		}
		all = all[n:]
	}
	b.cancel(ctx)
	b.forget(ctx)
}

// look asks the QS about items.
func (b *Bridge) look(ctx context.Context, items []*item) ([]Status, error) {
	entries := make([]Entry, len(items))
	b.mu.Lock()
	for i, it := range items {
		entries[i] = it.entry()
	}
	b.mu.Unlock()
	call, cancel := context.WithTimeout(ctx, b.o.Patience)
	defer cancel()
	statuses, err := b.o.QS.Look(call, entries)
	if err == nil && len(statuses) != len(items) {
		err = fmt.Errorf("%d statuses for %d entries", len(statuses), len(items))
	}
	b.mu.Lock()
	b.answered(err)
	b.mu.Unlock()
	return statuses, err
}

// seeAll takes note of what the QS says of items.
func (b *Bridge) seeAll(items []*item, statuses []Status) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var changed []*item
	for i, it := range items {
		if it.stage == sent && b.see(it, statuses[i]) {
			changed = append(changed, it)
		}
	}
	if err := b.change(changed, nil); err != nil {
		return err
	}
	b.part()
	if len(changed) > 0 {
		poke(b.work)
	}
	poke(b.news)
	return nil
}

// see takes note of what the QS says of an item, and reports whether that is to be written.
func (b *Bridge) see(it *item, st Status) bool {
	if st.Phase != Absent {
		it.absent = 0
	}
	b.hear(it, st)
	switch st.Phase {
	case Absent:
		// Once may be the instant in which it went from one place to another.
		if it.absent++; it.absent < 2 && it.stop == "" {
			poke(b.follow)
			return false
		}
		b.lost(it)
		return true
	case Running:
		if it.began.IsZero() {
			if it.began = st.Began; it.began.IsZero() {
				it.began = time.Now()
			}
			if b.book != nil {
				_ = b.book.Start(it.seq, time.Now()) // one that the book does not know was fed as capacity freed
			}
			b.hold(it)
			return true
		}
	case Succeeded, Failed, Cancelled:
		b.finish(it, st)
		return true
	}
	return false
}

// hear keeps what the QS said last, for people.
func (b *Bridge) hear(it *item, st Status) {
	it.untold = it.untold || st.Phase != it.status.Phase || it.heard.IsZero()
	it.says = it.says || st.Says != it.status.Says
	it.status, it.heard = st, time.Now()
}

// lost is an entry that surely is not in the QS and did not run to its end: it is submitted
// again, as another one.
func (b *Bridge) lost(it *item) {
	switch {
	case it.stop != "":
		b.finish(it, Status{Phase: Cancelled, Error: it.stop})
		return
	case it.forgot >= maxForgot:
		b.finish(it, Status{Phase: Failed, ExitCode: -1, Error: fmt.Sprintf("%s forgot it %d times", b.o.System, it.forgot+1)})
		return
	}
	b.log.Warn("the queueing system forgot a job; it is submitted again", "task", it.lease.Ref, "id", it.id)
	it.marker, it.id, it.stage, it.submitted, it.untold = marker(b.o.Name), "", intent, time.Now(), true
	it.forgot, it.absent = it.forgot+1, 0
	it.status = Status{}
	b.send = append(b.send, it)
}

// finish takes down how an entry ended.
func (b *Bridge) finish(it *item, st Status) {
	state, how := fairlead.Succeeded, frontback.Done
	switch {
	case st.Phase == Failed && it.stop == "":
		state, how = fairlead.Failed, frontback.Failed
	case st.Phase != Succeeded:
		state, how = fairlead.Cancelled, frontback.Failed
		if it.stop != "" {
			st.Error = it.stop
		} else if st.Error == "" {
			st.Error = "cancelled in " + b.o.System
		}
	}
	if it.began.IsZero() {
		if it.began = st.Began; it.began.IsZero() && st.Phase != Succeeded {
			how = frontback.Withdrawn
		}
	}
	if st.Ended.IsZero() {
		st.Ended = time.Now()
	}
	used := st.Used
	if it.began.IsZero() && st.Phase == Succeeded && used != nil { // of its beginning nothing was told
		it.began = st.Ended.Add(-time.Duration(used.Seconds * float64(time.Second)))
	}
	if !it.began.IsZero() {
		u := usedFor(&it.lease, b.unit, max(0, st.Ended.Sub(it.began).Seconds()))
		if used != nil {
			u = measured(u, *used)
		}
		used = &u
	}
	if b.book != nil {
		if _, err := b.book.End(it.seq, how, used, time.Now()); err != nil {
			b.log.Debug("the book does not know a job that ended", "task", it.lease.Ref, "error", err)
		}
	}
	it.end = &api.Finished{Ref: it.lease.Ref, State: string(state), ExitCode: st.ExitCode, Cause: bounded(st.Error), Ended: &st.Ended}
	if began := it.began; !began.IsZero() {
		it.end.Began = &began
	}
	if used != nil && st.Used != nil {
		it.end.CPUSeconds = used.CPUSeconds
	}
	it.stage, it.held = ended, nil
	b.keepOutput(it, st.Output)
}

// measured is what a task used, as far as that was told, and else what it held.
func measured(held, told frontback.Use) frontback.Use {
	held.Seconds = cmp.Or(told.Seconds, held.Seconds)
	held.CPUSeconds = cmp.Or(told.CPUSeconds, held.CPUSeconds)
	held.Processes = cmp.Or(told.Processes, held.Processes)
	held.Work = cmp.Or(told.Work, held.Work)
	maps.Copy(held.Resources, told.Resources)
	return held
}

// keepOutput keeps what a task printed, for fairlead logs.
func (b *Bridge) keepOutput(it *item, text string) {
	if text == "" {
		return
	}
	f, err := b.logs.Create(it.lease.JobID, it.lease.Task, it.lease.Attempt)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		b.log.Warn("the output of a task could not be kept", "task", it.lease.Ref, "error", err)
	}
}
