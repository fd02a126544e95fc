package fairlead

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/sched"
)

// How the history of the pools is taken down. Looking at all of them takes at most a
// hundredth of the time.
const (
	historyLook = 2 * time.Second  // between two looks
	historyGap  = 30 * time.Second // after which nobody knows what was in between
	historyHeld = 10 * time.Minute // how much is held for a database that is away
	historyMost = 5000             // pools in one step
	historyRows = 250              // pools in one transaction
)

// historian takes down how the pools fare. Every server does; one of those that share a
// store writes it there.
type historian struct {
	mu    sync.Mutex
	steps []heldStep // by time; the last is still going on

	// What the last look found, by the number of the pool in the account of fairness; used
	// by one goroutine alone.
	at   time.Time
	seen []poolLook

	written time.Time // the last attempt to write
	writes  bool      // whether this server writes
}

// heldStep is one step of all pools.
type heldStep struct {
	at    time.Time
	pools map[string]*HistoryStep
}

// poolLook is what a look finds of a pool.
type poolLook struct {
	path            string
	busy            bool
	ideal, received float64 // slot-seconds since the account began
	now             HistoryStep

	// Of a pool that the configuration names it is also taken down that its share has changed,
	// though it has nothing to do: told is the one that is known of it. It is told until the end
	// of a whole step, as what a pool had in its last step is taken for what it has afterwards.
	changed bool
	told    float64
	telling time.Time
}

// shareTold is by how much a share has changed that is taken down for that alone.
const shareTold = 1e-3

// keepHistory takes down how the pools fare until ctx ends, and what is not written yet then.
func (l *Loop) keepHistory(ctx context.Context, keeper HistoryKeeper) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			l.writeHistory(last, keeper, time.Now(), true)
			return
		case <-timer.C:
		}
		began := time.Now()
		l.lookAtPools(began)
		took := time.Since(began)
		l.writeHistory(ctx, keeper, began, false)
		timer.Reset(max(historyLook, 100*took))
	}
}

// lookAtPools adds what was between the last look and now.
func (l *Loop) lookAtPools(now time.Time) {
	h := &l.historian
	before, at := h.seen, h.at
	l.mu.Lock()
	h.seen = l.survey(now, slices.Clone(before))
	l.beats.note(now, &l.stats)
	l.mu.Unlock()
	h.at = now
	length := now.Sub(at)
	if at.IsZero() || length <= 0 || length > historyGap {
		return
	}
	var busy []poolLook
	for i, p := range h.seen {
		if i < len(before) {
			p = before[i].until(p, length.Seconds())
		} else {
			p = poolLook{}.until(p, length.Seconds())
		}
		if p.path == "" || p.busy {
			busy = append(busy, p)
		}
	}
	h.add(most(busy), at, now)
}

// until is how a pool fared between two looks that are so many seconds apart: of what only
// looks tell it is taken that it changed evenly.
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

// most are the pools that are taken down, if there are too many: those that want most. The
// root comes first, as it wants what all of them want.
func most(busy []poolLook) []poolLook {
	if len(busy) <= historyMost {
		return busy
	}
	slices.SortStableFunc(busy, func(a, b poolLook) int { return cmp.Compare(b.now.Demand, a.now.Demand) })
	return busy[:historyMost]
}

// survey looks at all pools. What a pool was due and received are sums that are exact, the rest
// is what is so at this moment.
func (l *Loop) survey(now time.Time, seen []poolLook) []poolLook {
	core, f := l.core, &l.fairness
	core.Advance(now)
	entitled, oldest := core.Entitlements(), core.OldestWaiting()
	l.measure(now, entitled)
	at := core.Now()
	for i := range seen { // those that are gone have nothing
		seen[i].busy, seen[i].changed, seen[i].now = false, false, HistoryStep{}
	}
	for i := range core.Pools() {
		id := sched.PoolID(i)
		n := f.of(core, id)
		if n < 0 {
			continue
		}
		for len(seen) <= n {
			seen = append(seen, poolLook{})
		}
		x, e, total := core.View(id), &entitled[i], f.account.Total(n)
		p := &seen[n]
		p.busy = x.Waiting > 0 || x.Tasks > 0
		p.ideal, p.received = total.Ideal, total.Received
		if math.Abs(e.Here-p.told) > shareTold {
			p.telling = now.Truncate(HistoryLevels[0].Step).Add(2 * HistoryLevels[0].Step)
		}
		p.changed = core.Configured(id) && now.Before(p.telling)
		if p.busy || p.changed {
			p.told = e.Here
		}
		if p.path == "" && id != sched.Root {
			p.path = core.Path(id)
		}
		p.now = HistoryStep{Share: e.Here, Demand: e.Demand, Waiting: float64(l.waitingTasks(id)), OldestWait: l.arrivals.since(oldest[i], now)}
		if above := core.View(core.Parent(id)).Service(at); above > 0 {
			p.now.Used = x.Service(at) / above
		}
	}
	return seen
}

// add adds what was so from one instant to another to the steps in which that lies.
func (h *historian) add(pools []poolLook, from, to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for from.Before(to) {
		begin := from.UTC().Truncate(HistoryLevels[0].Step)
		end := begin.Add(HistoryLevels[0].Step)
		if to.Before(end) {
			end = to
		}
		if n := len(h.steps); n == 0 || h.steps[n-1].at.Before(begin) {
			h.steps = append(h.steps, heldStep{begin, make(map[string]*HistoryStep, len(pools))})
		}
		last := h.steps[len(h.steps)-1]
		for i := range pools {
			s := last.pools[pools[i].path]
			if s == nil {
				s = &HistoryStep{At: last.at}
				last.pools[pools[i].path] = s
			}
			p := pools[i].now
			p.Seconds = 1
			s.Add(p.times(end.Sub(from).Seconds()))
		}
		from = end
	}
	kept := to.Add(-historyHeld)
	h.steps = slices.DeleteFunc(h.steps, func(s heldStep) bool { return s.at.Before(kept) })
}

// writeHistory writes the steps that are over, if it is time to and this server does it; at
// the end also the one that is going on.
func (l *Loop) writeHistory(ctx context.Context, keeper HistoryKeeper, now time.Time, ends bool) {
	h := &l.historian
	l.mu.Lock()
	writes := l.peers.store == nil || l.peers.roll.Stops
	l.mu.Unlock()
	if writes != h.writes {
		if err := l.changeWriter(ctx, keeper, now, writes); err != nil {
			return // it will be tried again
		}
	}
	if !writes || !ends && now.Sub(h.written) < h.writeEvery() {
		return
	}
	h.written = now
	for {
		batch, steps := h.batch(now, ends)
		if len(batch) == 0 {
			return
		}
		if err := keeper.AddHistory(ctx, batch); err != nil {
			if ctx.Err() == nil {
				l.log.Warn("the history of the pools could not be written; it will be tried again", "error", err)
			}
			return
		}
		h.done(batch, steps)
	}
}

// writeEvery is how long steps are gathered: a minute, and longer where there are so many
// pools that a store would be kept busy by their blocks.
func (h *historian) writeEvery() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	pools := 0
	for _, s := range h.steps {
		pools = max(pools, len(s.pools))
	}
	return time.Minute * time.Duration(min(max(1, pools/1000), 5))
}

// batch are the steps of some pools that are not written yet, on all levels, and which steps
// these are. The root is the last: what it has everybody has.
func (h *historian) batch(now time.Time, ends bool) (batch []PoolHistory, upTo time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	upTo = now.Truncate(HistoryLevels[0].Step)
	if ends {
		upTo = now.Add(HistoryLevels[0].Step)
	}
	named := map[string]bool{}
	for _, s := range h.steps {
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
		batch = append(batch, h.levels(pool, upTo)...)
	}
	slices.SortFunc(batch, func(a, b PoolHistory) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Level, b.Level)) })
	return batch, upTo
}

// levels are the steps of a pool before an instant, on all levels.
func (h *historian) levels(pool string, upTo time.Time) []PoolHistory {
	var all [len(HistoryLevels)]PoolHistory
	for level, x := range HistoryLevels {
		all[level] = PoolHistory{Pool: pool, Level: level}
		for _, s := range h.steps {
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

// addStep adds a step to longer ones, of which the last may be the one in which it lies.
func addStep(steps []HistoryStep, s HistoryStep, length time.Duration) []HistoryStep {
	s.At = s.At.Truncate(length)
	if n := len(steps); n > 0 && steps[n-1].At.Equal(s.At) {
		steps[n-1].Add(s)
		return steps
	}
	return append(steps, s)
}

// done forgets what was written.
func (h *historian) done(batch []PoolHistory, upTo time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range batch {
		for _, s := range h.steps {
			if s.at.Before(upTo) {
				delete(s.pools, p.Pool)
			}
		}
	}
	h.steps = slices.DeleteFunc(h.steps, func(s heldStep) bool { return len(s.pools) == 0 })
}

// changeWriter notes whether this server writes. Of what it holds it forgets, when it takes
// over, what another one has written.
func (l *Loop) changeWriter(ctx context.Context, keeper HistoryKeeper, now time.Time, writes bool) error {
	h := &l.historian
	last, err := time.Time{}, error(nil)
	if writes {
		if last, err = lastWritten(ctx, keeper, now); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = writes
	h.steps = slices.DeleteFunc(h.steps, func(s heldStep) bool { return !s.at.After(last) })
	return nil
}

// lastWritten is the beginning of the last step of the recent past that is in the store.
func lastWritten(ctx context.Context, keeper HistoryKeeper, now time.Time) (last time.Time, err error) {
	got, err := keeper.PoolHistory(ctx, HistoryQuery{Pools: []string{""}, From: now.Add(-historyHeld), To: now.Add(historyHeld)})
	if err == nil && len(got) > 0 {
		last = got[0].Steps[len(got[0].Steps)-1].At
	}
	return last, err
}
