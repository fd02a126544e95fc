package memory

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// Finish implements queue.Store.
func (s *Store) Finish(ctx context.Context, results []queue.Result) ([]queue.Verdict, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]queue.Verdict, len(results))
	for i, r := range results {
		if out[i].Err = life.Check(r.Outcome); out[i].Err != nil {
			continue
		}
		j, t, err := s.holder(r.Ref)
		if err != nil {
			out[i].Err = err
			continue
		}
		if r.Outcome.Refused != "" {
			out[i] = s.refuse(j, t, r.Outcome, now)
			continue
		}
		ended := life.Ends(&j.Job, t, r, usage.Late(r.Began, r.Ended, now), now)
		s.ledger.charge(j, t, ended, life.Learns(r.Outcome), now)
		parting := life.Part(&j.Job, t, life.HowEnded(r.Outcome))
		again := life.Finish(&j.Job, t, r.Outcome, ended)
		if again {
			s.journal.noteAll(parting.AgainEvents(t, r.Outcome, now))
		}
		s.back(j, t, again, parting, now)
		out[i] = queue.Verdict{State: j.State, Again: again}
	}
	return out, nil
}

// back updates the store after an attempt of a task: the task waits again, or its job may have ended.
func (s *Store) back(j *job, t *queue.Task, again bool, p life.Parting, now time.Time) {
	s.limits.drop(life.Ref(t))
	if again {
		i, _ := slices.BinarySearch(j.returned, t.Index)
		j.returned = slices.Insert(j.returned, i, t.Index)
		s.ledger.account(j.Pool).Waiting++
		if life.Eligible(&j.Job) && j.Gang < 2 {
			w := []queue.Waits{{Tasks: 1, Begin: t.Begin}}
			s.feed.Add(queue.Change{What: queue.Waited, Job: life.Header(&j.Job), Waits: w, State: j.State, Reason: "again", At: now})
		}
	}
	s.regroup(j, t, p, now)
	if j.State.Ended() {
		s.ended(j, now)
	}
}

// refuse ends an attempt that its machine could not begin. If the waiting tasks must now avoid that node, it reports
// them to the feed again.
func (s *Store) refuse(j *job, t *queue.Task, o queue.Outcome, now time.Time) queue.Verdict {
	s.ledger.account(j.Pool).Running--
	parting, before := life.Part(&j.Job, t, life.HowRefused), j.Avoid
	again := life.Refuse(&j.Job, t, o, now)
	s.journal.note(life.RefusedEvent(t, o, again, now))
	s.back(j, t, again, parting, now)
	if life.Kept(before, j.Avoid) && j.Gang < 2 {
		why := "kept from " + t.Holder
		s.withdrawn(j, why, now)
		s.waited(j, why, now)
	}
	return queue.Verdict{State: j.State, Again: again}
}

// Release implements queue.Store.
func (s *Store) Release(ctx context.Context, refs []queue.Ref) ([]error, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]error, len(refs))
	for i, r := range refs {
		j, t, err := s.holder(r)
		if out[i] = err; err != nil {
			continue
		}
		s.ledger.account(j.Pool).Running--
		parting := life.Part(&j.Job, t, life.HowGiven)
		s.back(j, t, life.Release(&j.Job, t, now), parting, now)
	}
	return out, nil
}
