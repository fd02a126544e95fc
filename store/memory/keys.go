package memory

import (
	"context"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// keyed returns the answer to a submission whose key belongs to another job, if it does.
func (s *Store) keyed(j *queue.Job) (queue.Submission, bool) {
	k := userKey{j.User, j.Key}
	id, ok := s.keys[k]
	if !ok || j.Key == "" || j.KeyUntilEnd && s.jobs[id].State.Ended() {
		return queue.Submission{}, false
	}
	return life.Keyed(j, id, s.digests[k]), true
}

// Keyed implements queue.KeyReader.
func (s *Store) Keyed(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error) {
	if _, err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]queue.Submission, len(jobs))
	for i, j := range jobs {
		out[i], _ = s.keyed(j)
	}
	return out, nil
}
