package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// Expire implements queue.Store.
func (s *Store) Expire(ctx context.Context, holder string) ([]queue.Ref, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []queue.Ref
	var running []int64
	for id, j := range s.jobs {
		if j.Running > 0 {
			running = append(running, id)
		}
	}
	slices.Sort(running)
	for _, id := range running {
		j := s.jobs[id]
		for _, i := range slices.Sorted(maps.Keys(j.tasks)) {
			t := j.tasks[i]
			if t.State != queue.Running || holder == "" && t.Until.After(now) || holder != "" && t.Holder != holder {
				continue
			}
			ref := life.Ref(t)
			out = append(out, ref)
			s.ledger.charge(j, t, now, false, now)
			parting := life.Part(&j.Job, t, life.HowLost)
			again := life.Lose(&j.Job, t, now)
			s.feed.Add(life.LostChange(&j.Job, t, ref, now))
			s.journal.noteAll(parting.LostEvents(t, again, now))
			s.back(j, t, again, parting, now)
		}
	}
	return out, nil
}
