package views

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// IdlePool returns a pool that [Pools] leaves out because it has no work, or that does not exist yet. Its share is the
// share that it gets as soon as it has work, computed in a fork in which it has work.
func IdlePool(l *engine.Loop, path string) PoolView {
	return engine.Read(l, func(s *engine.State) PoolView {
		now := time.Now()
		s.Core.Advance(now)
		s = s.With(s.Core.Fork())
		leaf := s.Core.Pool(path)
		id, _ := s.Core.Lookup(path)
		v := PoolView{
			Path: path, Depth: strings.Count(path, "/") + 1, Policy: s.Core.Read().PolicyName(id),
			Weight: s.Core.View(id).Weight, BaseWeight: s.Core.Read().BaseWeight(id), Mean: s.Core.View(id).Mean,
			Boosts: boostsOf(s, id), Paused: pauseOf(s, id), Configured: s.Core.Read().Configured(id),
		}
		if lim, ok := s.Core.Read().Limits(id); ok {
			v.Min, v.Max, v.MaxRunning = queue.Amounts(lim.Min), queue.Amounts(lim.Max), lim.Tasks
		}
		s.Core.Add(sched.Job{ID: trialJob, Pool: leaf, Tasks: 1, Key: s.Core.Key(nil), Submitted: now}, now)
		e := s.Core.Read().Entitlements()[id]
		v.Share, v.ShareHere = e.Share, e.Here
		return v
	})
}

// trialJob is the id of a job that exists only in a fork: it is larger than all others.
const trialJob = 1 << 47
