package explain

import (
	"context"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// Priorities returns the priorities of the waiting jobs, term by term, if the policy gives them any; the key is the
// negative priority.
func (ex *Explainer) Priorities(_ context.Context, jobs []*queue.Job) map[int64]why.Terms {
	return engine.Read(ex.loop, func(s *engine.State) map[int64]why.Terms {
		if !s.Core.Read().Ranks() {
			return nil
		}
		out := map[int64]why.Terms{}
		for _, j := range jobs {
			if j.Waiting == 0 || j.State.Ended() {
				continue
			}
			if t, ok := s.Core.Explain().Priority(s.JobOf(engine.HeaderOf(j))); ok {
				out[j.ID] = t
			}
		}
		return out
	})
}

// versusByPriority compares two jobs by their own priorities, if the priorities decide.
func versusByPriority(s *engine.State, c *why.Comparison, j, against *queue.Job) bool {
	if against == nil || j.ID == against.ID {
		return false
	}
	level, ok := s.Core.Explain().JobPair(s.JobOf(engine.HeaderOf(j)), s.JobOf(engine.HeaderOf(against)))
	if ok {
		c.Decide(level)
	}
	return ok
}
