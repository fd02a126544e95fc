package explain

import (
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Remember makes the engine sample at intervals why its pools wait. Call it before the engine runs.
func (ex *Explainer) Remember() { ex.loop.Sample(ex.sampleReasons) }

// sampleReasons records the pools whose reason for waiting has changed. It reads at most reasonPools waiting pools. The
// next sample continues with the pools after them.
func (ex *Explainer) sampleReasons(s *engine.State, now time.Time) {
	ex.reasons.mu.Lock()
	defer ex.reasons.mu.Unlock()
	if ex.reasons.last.IsZero() {
		ex.reasons.last = ex.loop.Made
	}
	if now.Sub(ex.reasons.last) < max(reasonEvery, ex.loop.Options.LeaseTTL/8) {
		return
	}
	ex.reasons.circle.prepare(s.Core, ex.reasons.last)
	ex.reasons.last = now
	if ex.reasons.pool == nil {
		ex.reasons.pool, ex.reasons.heads = map[leafOf][]waited{}, map[leafOf][]head{}
	}
	sampled := 0
	for range s.Core.Read().Pools() {
		if sampled == reasonPools {
			return
		}
		id, before := ex.reasons.circle.visit(now)
		if s.Core.View(id).Waiting == 0 || len(s.Core.Read().Children(id)) > 0 {
			continue
		}
		sampled++
		leaf := leafOf{s.Core.Path(id), s.Core.PriorityOf(id)}
		gates, first := s.Core.GateView().PoolGates(id)
		ex.reasons.lead(leaf, first, now)
		reason := reasonFor(s, id, gates)
		ex.reasons.times.add(leaf.pool, reason, before, now)
		if ex.reasons.note(leaf, reason, limitOf(gates, reason.Code), before, now) {
			ex.loop.Observer.WaitsFor(reason.Code)
		}
	}
}

// WaitReasons returns how long the pools waited for which reasons in the last hour or, if the server started later,
// since then.
func (ex *Explainer) WaitReasons(now time.Time) (since time.Time, all []WaitReason) {
	ex.reasons.mu.Lock()
	defer ex.reasons.mu.Unlock()
	if since = oldest(now); since.Before(ex.loop.Made) {
		since = ex.loop.Made
	}
	return since, ex.reasons.times.sum(now)
}

// reasonFor returns why jobs of a pool with these gates wait, without the numbers, because these change all the
// time.
func reasonFor(s *engine.State, id sched.PoolID, gates []why.Gate) why.Reason {
	closed := closedGates(inWords(gates))
	if len(closed) > 0 {
		if r := reasonsOf(closed)[0]; r.Code != why.FitNow {
			return r
		}
	}
	at, behind, next := s.Core.Explain().BehindAt(id)
	if behind {
		return othersFirst(s.Core.Path(at))
	}
	r := why.Reason{Code: why.CapacityFull, Text: "everything is in use"}
	switch free := lackOfRoom(s) == why.FitNow; {
	case free && len(closed) > 0:
		r = why.Reason{Code: why.FitNow, Text: "no node has room for " + firstOfIt}
	case free && len(s.Core.Read().Kept()) > 0:
		r = why.Reason{Code: why.FitReserved, Text: "the free room is kept for another job"}
	}
	if next {
		r.Text = poolIsNext + r.Text
	}
	return r
}

// othersFirst says that a pool is behind others in the pool with the given path.
func othersFirst(path string) why.Reason {
	return why.Reason{Code: why.ShareBehind, Text: "other pools go before it" + inPool(path)}
}
