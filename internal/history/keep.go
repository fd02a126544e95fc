package history

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// minShareChange is the smallest change of a share that is recorded for a pool without work.
const minShareChange = 1e-3

// keep records the values of the pools until ctx ends, and then writes the rest.
func (rc *Recorder) keep(ctx context.Context) {
	keeper, can := rc.loop.Store.(queue.HistoryKeeper)
	if !can {
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			rc.writeHistory(last, keeper, time.Now(), true)
			return
		case <-timer.C:
		}
		began := time.Now()
		rc.lookAtPools(began)
		took := time.Since(began)
		rc.writeHistory(ctx, keeper, began, false)
		timer.Reset(max(historyLook, 100*took))
	}
}

// lookAtPools takes a sample of the pools, and records their values for the time since the last sample.
func (rc *Recorder) lookAtPools(now time.Time) {
	before, at := rc.seen, rc.at
	rc.loop.Update(func(s *engine.State) {
		rc.seen = survey(s, now, slices.Clone(before))
		s.Beat(now)
	})
	rc.at = now
	length := now.Sub(at)
	if at.IsZero() || length <= 0 || isGap(at, now) {
		return
	}
	var busy []poolLook
	for i, p := range rc.seen {
		if i < len(before) {
			p = before[i].until(p, length.Seconds())
		} else {
			p = poolLook{}.until(p, length.Seconds())
		}
		if p.path == "" || p.busy {
			busy = append(busy, p)
		}
	}
	rc.add(busiest(busy), at, now)
}

// isGap reports whether the values between two samples are unknown. It uses the wall clock, as steps do. Between
// samples that are two seconds apart, somebody may set that clock by years, or the machine may sleep for hours.
func isGap(from, to time.Time) bool {
	passed := to.Round(0).Sub(from.Round(0))
	return passed <= 0 || passed > historyGap
}

// until returns the values of a pool between two samples that are this many seconds apart. It assumes that values known
// only from the samples changed evenly.
func (p poolLook) until(next poolLook, seconds float64) poolLook {
	out, a, b := next, &p.now, &next.now
	out.now.FairNow, out.now.Running = (next.ideal-p.ideal)/seconds, (next.received-p.received)/seconds
	out.now.Demand, out.now.Waiting = max(out.now.Running, (a.Demand+b.Demand)/2), (a.Waiting+b.Waiting)/2
	out.now.OldestWait = max(a.OldestWait, b.OldestWait)
	if p.busy || p.changed {
		out.now.Share, out.now.Used = a.Share, a.Used
	}
	out.busy = p.busy || p.changed || next.busy || out.now.Running > 0
	return out
}

// busiest chooses the pools to record if there are too many: those with the largest demand. The root comes first,
// because its demand is the sum of all.
func busiest(busy []poolLook) []poolLook {
	if len(busy) <= historyMax {
		return busy
	}
	slices.SortStableFunc(busy, func(a, b poolLook) int { return cmp.Compare(b.now.Demand, a.now.Demand) })
	return busy[:historyMax]
}

// survey samples all pools. The entitled and the received service of a pool are exact sums, the other values are those
// of this moment.
func survey(s *engine.State, now time.Time, seen []poolLook) []poolLook {
	core, f := s.Core, &s.Fairness
	core.Advance(now)
	entitled, oldest := core.Read().Entitlements(), core.Read().OldestWaiting()
	s.Fairness.Measure(s.Core, now, entitled)
	at := core.Read().Now()
	for i := range seen { // pools that are gone have nothing
		seen[i].busy, seen[i].changed, seen[i].now = false, false, queue.HistoryStep{}
	}
	for i := range core.Read().Pools() {
		id := sched.PoolID(i)
		n := f.Of(core, id)
		if n < 0 {
			continue
		}
		for len(seen) <= n {
			seen = append(seen, poolLook{})
		}
		x, e, total := core.View(id), &entitled[i], f.Account.Total(n)
		p := &seen[n]
		p.busy = x.Waiting > 0 || x.Tasks > 0
		p.ideal, p.received = total.Ideal, total.Received
		if math.Abs(e.Here-p.reported) > minShareChange {
			p.telling = now.Truncate(queue.HistoryLevels[0].Step).Add(2 * queue.HistoryLevels[0].Step)
		}
		p.changed = core.Read().Configured(id) && now.Before(p.telling)
		if p.busy || p.changed {
			p.reported = e.Here
		}
		if p.path == "" && id != sched.Root {
			p.path = core.Path(id)
		}
		p.now = queue.HistoryStep{Share: e.Here, Demand: e.Demand, Waiting: float64(engine.WaitingTasks(s.Core, id)),
			OldestWait: s.Arrivals.Since(oldest[i], now)}
		if above := core.View(core.Read().Parent(id)).Service(at); above > 0 {
			p.now.Used = x.Service(at) / above
		}
	}
	return seen
}

// add adds values that were valid between two instants to the steps of that time.
func (rc *Recorder) add(pools []poolLook, from, to time.Time) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	for from.Before(to) {
		begin := from.UTC().Truncate(queue.HistoryLevels[0].Step)
		end := begin.Add(queue.HistoryLevels[0].Step)
		if to.Before(end) {
			end = to
		}
		if n := len(rc.steps); n == 0 || rc.steps[n-1].at.Before(begin) {
			rc.steps = append(rc.steps, heldStep{begin, make(map[string]*queue.HistoryStep, len(pools))})
		}
		last := rc.steps[len(rc.steps)-1]
		for i := range pools {
			s := last.pools[pools[i].path]
			if s == nil {
				s = &queue.HistoryStep{At: last.at}
				last.pools[pools[i].path] = s
			}
			p := pools[i].now
			p.Seconds = 1
			s.Add(p.Times(end.Sub(from).Seconds()))
		}
		from = end
	}
	kept := to.Add(-historyHeld)
	rc.steps = slices.DeleteFunc(rc.steps, func(s heldStep) bool { return s.at.Before(kept) })
}

// writeHistory writes the finished steps, if it is time for that and this server is the writer; at the end it also
// writes the current step.
func (rc *Recorder) writeHistory(ctx context.Context, keeper queue.HistoryKeeper, now time.Time, ends bool) {
	writes := engine.Read(rc.loop, func(s *engine.State) bool { return !s.Others.Record() })
	if writes != rc.writes {
		if err := rc.changeWriter(ctx, keeper, now, writes); err != nil {
			return // it will be tried again
		}
	}
	if !writes || !ends && now.Sub(rc.written) < rc.writeEvery() {
		return
	}
	rc.written = now
	for {
		batch, steps := rc.batch(now, ends)
		if len(batch) == 0 {
			return
		}
		if err := rc.move(ctx, keeper, batch, steps); err != nil {
			if ctx.Err() == nil {
				rc.loop.Log.Warn("the history of the pools could not be written; it will be tried again", "error", err)
			}
			return
		}
	}
}

// move writes steps to the store, and removes them here.
func (rc *Recorder) move(
	ctx context.Context, keeper queue.HistoryKeeper, batch []queue.PoolHistory, upTo time.Time,
) error {
	if err := rc.moving.Acquire(ctx, historyReaders); err != nil {
		return err
	}
	defer rc.moving.Release(historyReaders)
	if err := keeper.AddHistory(ctx, batch); err != nil {
		return err
	}
	rc.done(batch, upTo)
	return nil
}

// writeEvery returns how long steps are collected: a minute, or longer if writing the blocks of all pools would keep a
// store busy.
func (rc *Recorder) writeEvery() time.Duration {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	pools := 0
	for _, s := range rc.steps {
		pools = max(pools, len(s.pools))
	}
	return time.Minute * time.Duration(min(max(1, pools/1000), 5))
}

// batch returns the unwritten steps of some pools, on all levels, and the instant before which they end. The root comes
// last, so that a step that is stored for the root is stored for every pool.
func (rc *Recorder) batch(now time.Time, ends bool) (batch []queue.PoolHistory, upTo time.Time) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	upTo = now.Truncate(queue.HistoryLevels[0].Step)
	if ends {
		upTo = now.Add(queue.HistoryLevels[0].Step)
	}
	named := map[string]bool{}
	for _, s := range rc.steps {
		for pool := range s.pools {
			if s.at.Before(upTo) && pool != "" && len(named) < historyRows {
				named[pool] = true
			}
		}
	}
	if len(named) == 0 {
		named[""] = true
	}
	for pool := range named {
		batch = append(batch, rc.levels(pool, upTo)...)
	}
	slices.SortFunc(batch, func(a, b queue.PoolHistory) int {
		return cmp.Or(cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Level, b.Level))
	})
	return batch, upTo
}

// levels returns the steps of a pool before an instant, on all levels.
func (rc *Recorder) levels(pool string, upTo time.Time) []queue.PoolHistory {
	var all [len(queue.HistoryLevels)]queue.PoolHistory
	for level, x := range queue.HistoryLevels {
		all[level] = queue.PoolHistory{Pool: pool, Level: level}
		for _, s := range rc.steps {
			if p := s.pools[pool]; p != nil && s.at.Before(upTo) {
				all[level].Steps = addStep(all[level].Steps, *p, x.Step)
			}
		}
	}
	if len(all[0].Steps) == 0 {
		return nil
	}
	return all[:]
}

// addStep adds a step to a list of longer steps; it may belong to the last of them.
func addStep(steps []queue.HistoryStep, s queue.HistoryStep, length time.Duration) []queue.HistoryStep {
	s.At = s.At.Truncate(length)
	if n := len(steps); n > 0 && steps[n-1].At.Equal(s.At) {
		steps[n-1].Add(s)
		return steps
	}
	return append(steps, s)
}

// done removes the written steps.
func (rc *Recorder) done(batch []queue.PoolHistory, upTo time.Time) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	for _, p := range batch {
		for _, s := range rc.steps {
			if s.at.Before(upTo) {
				delete(s.pools, p.Pool)
			}
		}
	}
	rc.steps = slices.DeleteFunc(rc.steps, func(s heldStep) bool { return len(s.pools) == 0 })
}

// changeWriter records whether this server is the writer. When it takes over, it removes the steps that the former
// writer has already written.
func (rc *Recorder) changeWriter(ctx context.Context, keeper queue.HistoryKeeper, now time.Time, writes bool) error {
	last, err := time.Time{}, error(nil)
	if writes {
		if last, err = lastWritten(ctx, keeper, now); err != nil {
			return err
		}
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.writes = writes
	rc.steps = slices.DeleteFunc(rc.steps, func(s heldStep) bool { return !s.at.After(last) })
	return nil
}

// Keep makes the engine record the values of its pools while it runs, if its store keeps a history. Call it before the
// engine runs.
func (rc *Recorder) Keep() { rc.loop.Beside(rc.keep) }

// lastWritten returns the beginning of the last step of the finest level that is in the store.
func lastWritten(ctx context.Context, keeper queue.HistoryKeeper, now time.Time) (last time.Time, err error) {
	got, err := keeper.PoolHistory(ctx, queue.HistoryQuery{Pools: []string{""}, From: now.Add(-historyHeld),
		To: now.Add(historyHeld)})
	if err == nil && len(got) > 0 {
		last = got[0].Steps[len(got[0].Steps)-1].At
	}
	return last, err
}
