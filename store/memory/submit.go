package memory

import (
	"context"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Submit implements queue.Store.
func (s *Store) Submit(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]queue.Submission, len(jobs))
	for i, j := range jobs {
		out[i] = s.submit(j, now)
	}
	return out, nil
}

func (s *Store) submit(in *queue.Job, now time.Time) queue.Submission {
	c := *in
	if err := c.Check(); err != nil {
		return queue.Submission{Err: err}
	}
	if sub, ok := s.keyed(&c); ok {
		return sub
	}
	var waitsFor []int64
	for _, d := range c.After {
		state := queue.State("")
		if on, ok := s.jobs[d.Job]; ok {
			state = on.State
		}
		wait, err := d.Wait(state)
		if err != nil {
			return queue.Submission{Err: err}
		}
		if wait {
			waitsFor = append(waitsFor, d.Job)
		}
	}
	digest := c.Digest
	c.Digest = ""
	s.last++
	life.Admit(&c, s.last, len(waitsFor), now)
	j := &job{Job: c, tasks: map[int]*queue.Task{}}
	s.jobs[c.ID] = j
	if c.Key != "" {
		s.keys[userKey{c.User, c.Key}], s.digests[userKey{c.User, c.Key}] = c.ID, digest
	}
	for _, id := range waitsFor {
		s.dependents[id] = append(s.dependents[id], c.ID)
	}
	s.ledger.accountOf(c.Pool, c.User).Waiting += int64(c.Tasks)
	s.waited(j, "submitted", now)
	return queue.Submission{ID: c.ID}
}
