package sched

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/share"
)

// Reclaim says which tasks are stopped for pools that do not get what they should have;
// the pools say when, see [share.Reclaim].
//
// A pool starves when tasks of it wait that would fit on some node, no limit but the lack
// of room holds them back, and it has less than its minimum of what they ask for, or less
// than the fraction Below of its fair part: what the ideal fluid scheduler would give it
// at this moment. When it has starved for longer than its timeout, tasks are stopped so
// that it reaches the minimum or the fair part, never more, under these rules:
//
//   - A pool that gives, beside the starving one or beside a pool above it, keeps its fair
//     part and its minimum. So do the pools below it as far as there are such tasks, else
//     they keep the whole units of their parts.
//   - A job is stopped at most once in a grace period; a gang as a whole or not at all.
//   - Each stop is needed: without it the task that waits would not fit.
//   - The core itself is asked what would start in the room. Nothing is stopped if that
//     is not a task of the starving pool, as the order of the policies wants others first.
//
// After stops for a pool, or when its turn has not come, its timeout begins anew.
type Reclaim struct {
	Grace  time.Duration // no job is stopped twice within this time
	Choose Choose
}

// Choose says which tasks are stopped first.
type Choose uint8

const (
	// Newest stops the tasks that began last.
	Newest Choose = iota
	// Cheapest stops the tasks with which the fewest slot-seconds are lost.
	Cheapest
)

func (c Choose) String() string { return [...]string{"newest", "cheapest"}[c] }

// reclaimer remembers which pools starve. It looks at all pools, but only now and then,
// and not at all where no pool has a timeout or nothing waits.
type reclaimer struct {
	on     bool
	every  time.Duration // between two looks
	seen   time.Time     // the last look
	next   time.Time     // the next one
	hungry map[lacking]hunger
}

// lacking is a pool with the rule by which it starves.
type lacking struct {
	pool int32
	rule StopRule
}

// hunger is since when, and how much, a pool lacks.
type hunger struct {
	lacking
	since    time.Time // seen at every look from then on
	from     time.Time // when the timeout began
	after    time.Duration
	resource int
	running  float64
	goal     float64
	owed     float64 // units x seconds since then
}

// How often starving pools are looked for: ten times within the shortest timeout, but
// neither all the time nor so rarely that the times shown mean little. A look takes about
// a third of a microsecond for each pool; with many pools there are so few looks that they
// take a fiftieth of the time.
const (
	looks       = 10
	shortestGap = 50 * time.Millisecond
	longestGap  = 5 * time.Second
	gapOfPool   = 20 * time.Microsecond
)

// configureReclaim reads from the configured pools whether, and how often, to look.
func (s *Scheduler) configureReclaim() {
	shortest := time.Duration(0)
	for i := range s.labels {
		for _, d := range []time.Duration{s.labels[i].reclaim.MinAfter, s.labels[i].reclaim.ShareAfter} {
			if d > 0 && (shortest == 0 || d < shortest) {
				shortest = d
			}
		}
	}
	s.stops.grace = s.cfg.Reclaim.Grace
	s.reclaimer.on = shortest > 0
	s.reclaimer.every = min(max(shortest/looks, shortestGap), longestGap)
	s.reclaimer.next = time.Time{}
}

// nextLook is when starving pools are looked for again; zero if that is not needed.
func (s *Scheduler) nextLook() time.Time {
	if !s.reclaimer.on || s.stops.left {
		return time.Time{}
	}
	return s.reclaimer.next
}

// reclaim looks for starving pools when it is time, and stops tasks for those whose
// timeout is over.
func (s *Scheduler) reclaim(d *Decision) {
	r := &s.reclaimer
	switch {
	case !r.on || s.stops.left || d.More || s.at.Before(r.next):
		return
	case s.pools[Root].Waiting == 0:
		r.hungry = nil
		return
	}
	settings, entitled := s.reclaimSettings(), s.Entitlements()
	due := s.hunger(settings, entitled)
	if len(due) > 0 {
		p := planner{s: s, settings: settings, entitled: entitled, stopped: map[int64]bool{}, d: d}
		p.serve(due)
	}
	r.next = s.at.Add(max(r.every, time.Duration(len(s.pools))*gapOfPool))
	for _, h := range r.hungry {
		if end := h.from.Add(h.after); end.After(s.at) && end.Before(r.next) {
			r.next = end
		}
	}
}

// reclaimSettings are those that hold in each pool. Named pools come after the pools
// above them.
func (s *Scheduler) reclaimSettings() []share.Reclaim {
	all := make([]share.Reclaim, len(s.pools))
	for i := range all {
		all[i] = s.labels[i].reclaim
		if i != int(Root) && s.labels[i].kind == named {
			all[i] = all[i].Under(all[s.pools[i].parent])
		}
	}
	return all
}

// hunger brings up to date which pools starve, and returns those whose timeout is over:
// by minimum first, then those that have starved for longest.
func (s *Scheduler) hunger(settings []share.Reclaim, entitled []Entitlement) []hunger {
	open, lacks := s.openWork()
	before := s.reclaimer.hungry
	now := map[lacking]hunger{}
	var due []hunger
	note := func(h hunger) {
		h.since, h.from = s.at, s.at
		if old, known := before[h.lacking]; known {
			seconds := s.at.Sub(s.reclaimer.seen).Seconds()
			h.since, h.from, h.owed = old.since, old.from, old.owed+(old.goal-old.running)*seconds
		}
		now[h.lacking] = h
		if s.at.Sub(h.from) >= h.after {
			due = append(due, h)
		}
	}
	for i := 1; i < len(s.pools); i++ {
		id, p, set := int32(i), &s.pools[i], settings[i]
		if s.labels[i].kind == band || !open[i] {
			continue
		}
		if r := lacks[i]; r >= 0 && set.MinAfter > 0 {
			l := s.limits(id)
			note(hunger{lacking: lacking{id, StopMin}, after: set.MinAfter, resource: int(r), running: float64(l.used[r]), goal: float64(l.min[r])})
		}
		if goal := entitled[i].Now; set.ShareAfter > 0 && p.Running < cmp.Or(set.Below, share.DefaultBelow)*goal-rounding {
			note(hunger{lacking: lacking{id, StopShare}, after: set.ShareAfter, running: p.Running, goal: goal})
		}
	}
	s.reclaimer.hungry, s.reclaimer.seen = now, s.at
	slices.SortFunc(due, func(a, b hunger) int {
		return cmp.Or(-cmp.Compare(a.rule, b.rule), a.since.Compare(b.since), cmp.Compare(a.pool, b.pool))
	})
	return due
}

// rounding is what sums of parts may be off by.
const rounding = 1e-6

// openWork says for each pool whether tasks of it wait that only the lack of room holds
// back, and of which resource they ask for it has less than its minimum; -1 if none.
func (s *Scheduler) openWork() (open []bool, lacks []int16) {
	open, lacks = make([]bool, len(s.pools)), make([]int16, len(s.pools))
	for i := range lacks {
		lacks[i] = -1
	}
	could := make([]int8, s.cluster.Shapes()) // 0: not asked yet
	for i := range s.queues {
		q := &s.queues[i]
		for k := range q.lines() {
			l := q.line(k)
			if !l.wants() || s.pathFull(q.pool) {
				continue
			}
			if could[l.shape] == 0 {
				could[l.shape] = -1
				if s.cluster.Could(l.shape) {
					could[l.shape] = 1
				}
			}
			if could[l.shape] > 0 {
				s.markWork(q.pool, s.cluster.Request(l.shape), open, lacks)
			}
		}
	}
	return open, lacks
}

// wants reports whether only the lack of room may hold back what waits in a line.
func (l *line) wants() bool {
	return (l.gate == noGate || l.gate == byFit) && (l.fresh.jobs > 0 || len(l.begun) > 0)
}

// pathFull reports whether a pool on the way is at its maximum for every request.
func (s *Scheduler) pathFull(id int32) bool {
	for ; id >= 0; id = s.pools[id].parent {
		if l := s.limits(id); l != nil && l.full(s.pools[id].Tasks) {
			return true
		}
	}
	return false
}

func (s *Scheduler) markWork(id int32, request []int64, open []bool, lacks []int16) {
	for ; id >= 0; id = s.pools[id].parent {
		open[id] = true
		l := s.limits(id)
		if l == nil || lacks[id] >= 0 {
			continue
		}
		for r, least := range l.min {
			if r < len(request) && request[r] > 0 && l.used[r] < least {
				lacks[id] = int16(r)
				break
			}
		}
	}
}

// again lets the timeout of a pool begin anew.
func (r *reclaimer) again(n lacking, now time.Time) {
	if h, ok := r.hungry[n]; ok {
		h.from = now
		r.hungry[n] = h
	}
}

// fork lets a copy remember what is known; a copy that answers questions stops nothing,
// see [Scheduler.Fork].
func (r *reclaimer) fork() {
	r.hungry = maps.Clone(r.hungry)
	r.on = false
}
