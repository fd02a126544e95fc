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

// begin makes an item of a lease and decides its priority in the QS. It returns nil if the book refuses the
// job.
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

// adopt continues an entry under a new attempt. It returns false if the bridge does not know yet whether that is
// right. The server may have recorded the end of the previous attempt, or of attempts in between that another bridge
// made under our name.
func (s *state) adopt(it *item, l api.Lease) bool {
	if it.stop != "" || !it.adoptable && (it.stage == ended || l.Attempt != it.lease.Attempt+1) {
		it.live = false
		wait.Wake(s.signals.settle)
		return false
	}
	s.log.Info("continuing an entry under a new attempt", "task", l.Ref, "id", it.id)
	it.lease.Ref, it.lease.Since = l.Ref, l.Since
	it.live, it.unreported, it.stale, it.adoptable = true, true, false, false
	if it.end != nil {
		it.end.Ref = l.Ref
	}
	return true
}

// isLeaving reports whether an earlier entry of the task is still leaving the QS.
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

// stops marks tasks that the server wants to end, so that they leave the QS. It takes the lock.
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

// dropUnsent ends tasks that must stop and were never sent.
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

// keepUnsent removes sent tasks from the list of tasks to send.
func (s *state) keepUnsent() {
	var keep []*item
	for _, it := range s.send {
		if it.stage == intent {
			keep = append(keep, it)
		}
	}
	s.send = keep
}

// lapsed marks items whose leases we have lost. The bridge then asks the server about their tasks, because a task may
// be over, or the server may lease it again. It takes the lock.
func (s *state) lapsed(refs []queue.Ref, errs []*api.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, ref := range refs {
		it := s.items[task{ref.JobID, ref.Task}]
		if it == nil || it.lease.Ref != ref || i >= len(errs) {
			continue
		}
		if lost(errs[i].Err()) {
			it.live = false
			wait.Wake(s.signals.settle)
		}
	}
}

// lost reports whether an error says that an attempt no longer belongs to this bridge.
func lost(err error) bool {
	return errors.Is(err, queue.ErrStaleAttempt) || errors.Is(err, queue.ErrNotFound)
}

// disown removes an attempt that the server does not know, after the server's database was restored: the server may
// give the numbers to another attempt.
func (s *state) disown(ref queue.Ref) {
	it := s.items[task{ref.JobID, ref.Task}]
	if it == nil || it.lease.Ref != ref {
		return
	}
	s.log.Warn("the server does not know an earlier attempt, because its database was restored; ending it", "task", ref,
		"id", it.id)
	s.abandon(it, "the server does not know it any more, because its database was restored")
}

// abandon removes an item without a lease, after its entry has left the QS.
func (s *state) abandon(it *item, why string) {
	delete(s.items, it.task())
	it.stop = why
	switch {
	case it.stage == ended:
		s.over = append(s.over, it)
	default:
		s.log.Info("removing an unwanted task from the queueing system", "task", it.lease.Ref, "id", it.id,
			"why", why)
		s.leaving = append(s.leaving, it)
	}
	s.dropUnsent()
	s.part()
	wait.Wake(s.signals.follow)
}
