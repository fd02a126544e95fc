package bridge

import (
	"errors"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bounded"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// begin makes an item of a lease: where it goes is decided here. It returns nil if that
// cannot be.
func (s *state) begin(l api.Lease, now time.Time) *item {
	it := &item{
		row: &row{seq: s.seq + 1, marker: marker(s.o.Name), lease: l, priority: s.o.Level, submitted: now}, live: true,
		unreported: true,
	}
	if s.book != nil {
		g := s.o.Groups
		d, err := s.book.Submit(frontback.Job{ID: it.seq, Group: g.Group(l.Job.Pool), Estimate: g.estimate(&l, s.unit)}, now)
		if err != nil {
			s.refuse(l, err.Error())
			return nil
		}
		d.Job = l.JobID
		it.decision, it.priority = &d, d.Priority
		s.hold(it)
	}
	s.seq++
	return it
}

// adopt goes on with an entry under a new attempt, or returns false if it is not known yet
// whether that may be: the server may have taken note of the end that it had under the one
// before, or of attempts in between, which somebody else made under our name.
func (s *state) adopt(it *item, l api.Lease) bool {
	if it.stop != "" || !it.adoptable && (it.stage == ended || l.Attempt != it.lease.Attempt+1) {
		it.live = false
		wait.Wake(s.signals.settle)
		return false
	}
	s.log.Info("going on with an entry under a new attempt", "task", l.Ref, "id", it.id)
	it.lease.Ref, it.live, it.unreported, it.stale, it.adoptable = l.Ref, true, true, false, false
	if it.end != nil {
		it.end.Ref = l.Ref
	}
	return true
}

// isLeaving reports whether an earlier entry of the task is still being taken out.
func (s *state) isLeaving(ref queue.Ref) bool {
	for _, it := range s.leaving {
		if it.task() == (task{ref.JobID, ref.Task}) {
			return true
		}
	}
	return false
}

// refuse ends a task that can never be submitted.
func (s *state) refuse(l api.Lease, cause string) {
	s.refused = append(s.refused, api.Finished{
		Ref: l.Ref, State: string(queue.Failed), Final: true, ExitCode: -1, Cause: bounded.Text(cause, maxCause),
	})
	wait.Wake(s.signals.news)
}

// stops takes tasks out of the QS that the server does not want any more. It takes the lock.
func (s *state) stops(stops []api.Stop) {
	if len(stops) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stop := range stops {
		if it := s.items[task{stop.JobID, stop.Task}]; it != nil && it.lease.Ref == stop.Ref && it.stop == "" {
			it.stop = stop.Cause
		}
	}
	s.dropUnsent()
	wait.Wake(s.signals.follow)
}

// dropUnsent ends tasks that are to be stopped and were never sent.
func (s *state) dropUnsent() {
	var changed, keep []*item
	for _, it := range s.send {
		if it.stop == "" || it.unsure || it.sending {
			keep = append(keep, it)
			continue
		}
		s.finish(it, Status{Phase: Cancelled, Error: it.stop})
		changed = append(changed, it)
	}
	s.send = keep
	if len(changed) > 0 {
		_ = s.change(changed, nil)
		wait.Wake(s.signals.news)
	}
	s.part()
}

// keepUnsent takes sent tasks out of the line.
func (s *state) keepUnsent() {
	var keep []*item
	for _, it := range s.send {
		if it.stage == intent {
			keep = append(keep, it)
		}
	}
	s.send = keep
}

// lapsed notes which leases are ours no more. What becomes of their entries the server is
// asked: the task may be over, or about to be leased again. It takes the lock.
func (s *state) lapsed(refs []queue.Ref, errs []*api.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, ref := range refs {
		it := s.items[task{ref.JobID, ref.Task}]
		if it == nil || it.lease.Ref != ref || i >= len(errs) {
			continue
		}
		if err := errs[i].Err(); errors.Is(err, queue.ErrStaleAttempt) || errors.Is(err, queue.ErrNotFound) {
			it.live = false
			wait.Wake(s.signals.settle)
		}
	}
}

// abandon takes an item out that is nobody's any more: first out of the QS.
func (s *state) abandon(it *item, why string) {
	delete(s.items, it.task())
	it.stop = why
	switch {
	case it.stage == ended:
		s.over = append(s.over, it)
	default:
		s.log.Info("taking out of the queueing system what is not wanted there any more", "task", it.lease.Ref, "id", it.id,
			"why", why)
		s.leaving = append(s.leaving, it)
	}
	s.dropUnsent()
	s.part()
	wait.Wake(s.signals.follow)
}
