package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// expirer ends expired leases and marks silent nodes down.
type expirer struct {
	*base
	overrides *Overrides
	troubles  *troubles
	// samplers are called with the state each time. They are set before the engine runs.
	samplers []func(*State, time.Time)
}

// expire ends expired leases and marks silent nodes. An expired lease is the first sign of a silent node. So the node
// is marked before its tasks can be leased again. Otherwise they would go to the dead node once more.
func (e *expirer) expire(ctx context.Context) {
	defer e.overrides.setAside(ctx)
	e.syncing.Lock()
	defer e.syncing.Unlock()
	refs, err := e.runOut(ctx)
	if err != nil && ctx.Err() == nil {
		e.troubles.failed(toExpire, fmt.Errorf("expire leases: %w", err), 0)
	} else if err == nil {
		e.troubles.worked(toExpire)
	}
	if len(refs) > 0 {
		e.Log.Warn("leases ran out", "tasks", len(refs))
	}
	e.Update(func(s *State) {
		now := time.Now()
		for _, ref := range refs {
			if r := s.Runs[taskID{ref.JobID, ref.Task}]; r != nil && r.Ref == ref {
				s.Faults.ranOut(r, now)
				e.silent(s, r.Holder, now)
			}
		}
		e.silence(s, now)
		for _, sample := range e.samplers {
			sample(s, now)
		}
		e.recountNow(s, now)
	})
}

// runOut ends the expired leases. After an outage of this server or its store it ends no lease until its holder has had
// time to renew it. Other servers may end them.
func (e *expirer) runOut(ctx context.Context) ([]queue.Ref, error) {
	if e.outages.within(e.Options.LeaseTTL) {
		return nil, nil
	}
	return e.Store.Expire(ctx, "")
}

// silence marks down the nodes that have been silent for longer than a lease.
func (e *expirer) silence(s *State, now time.Time) {
	for name, m := range s.Joined {
		if m.silentFor(now) {
			e.silent(s, name, now)
		}
	}
}

// silent marks a node down until its worker reports again.
func (e *expirer) silent(s *State, name string, now time.Time) {
	if s.down(name, now) {
		e.Log.Warn("node is silent", "node", name)
	}
}

// recount compares the sums of the core with a recount. The caller holds both locks: during a step the core has tasks
// that are not leased yet.
func (s *State) recount(now time.Time) Recounted {
	s.Core.Advance(now)
	found := Recounted{At: now, Wrong: s.Core.Read().Recount()}
	queued := 0
	for _, r := range s.Runs {
		if r.Queued {
			queued++
		}
	}
	there, _ := s.Core.Read().Queued(sched.Root)
	for _, d := range []sched.Difference{
		{What: "tasks that run", Kept: float64(s.Core.View(sched.Root).Tasks), Counted: float64(len(s.Runs))},
		{What: "tasks that wait in other queueing systems", Kept: float64(there), Counted: float64(queued)},
	} {
		if d.Kept != d.Counted {
			found.Wrong = append(found.Wrong, d)
		}
	}
	found.Took = time.Since(now)
	return found
}

// The engine recounts each minute, but spends at most 1/recountPart of the time on it.
const (
	recountEvery = time.Minute
	recountPart  = 10_000
)

// recountNow recounts if a recount is due, and reports differences. The caller holds both locks.
func (e *expirer) recountNow(s *State, now time.Time) {
	last := &s.recounted
	if now.Sub(last.At) < max(recountEvery, recountPart*last.Took) {
		return
	}
	was := len(last.Wrong)
	*last = s.recount(now)
	if n := len(last.Wrong); n > 0 && n != was {
		e.Log.Error("sums differ from a recount of the running and waiting tasks; restart the server to correct them", "sums", n, "first", last.Wrong[0].String())
	}
}
