package sched

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/share"
)

// reclaimer records which pools starve. It checks all pools at intervals, and never if no pool has a timeout or no
// task waits.
type reclaimer struct {
	site       *site
	tree       *tree
	queues     *queues
	running    *running
	departures *departures

	on     bool
	every  time.Duration // interval between checks
	seen   time.Time     // last check
	next   time.Time     // next check
	hungry map[lacking]hunger
}

// lacking is a starving pool and the rule that applies.
type lacking struct {
	pool int32
	rule StopRule
}

// hunger is since when a pool starves, and how much it lacks.
type hunger struct {
	lacking
	since     time.Time // starving at every check from then on
	from      time.Time // start of the timeout
	after     time.Duration
	resource  int
	running   float64
	goal      float64
	owed      float64 // units x seconds lacking since then
	fruitless bool    // the last try found no task to stop
}

// The interval between checks for starving pools allows ten checks within the shortest timeout. The constants bound
// it, so that there are not too many checks, and enough for the shown times to mean something. A check takes about
// a third of a microsecond per pool. The interval grows with the number of pools, so that checks take a fiftieth of
// the time at most.
const (
	looks       = 10
	shortestGap = 50 * time.Millisecond
	longestGap  = 5 * time.Second
	gapOfPool   = 20 * time.Microsecond
)

// maxPlanned is the largest number of tasks that one check makes room for. Later checks continue.
const maxPlanned = 1000

// configure reads from the configured pools whether, and at which interval, to check.
func (r *reclaimer) configure() {
	shortest := time.Duration(0)
	for i := range r.tree.labels {
		for _, d := range []time.Duration{r.tree.labels[i].reclaim.MinAfter, r.tree.labels[i].reclaim.ShareAfter} {
			if d > 0 && (shortest == 0 || d < shortest) {
				shortest = d
			}
		}
	}
	r.departures.stops.grace = r.site.cfg.Reclaim.Grace
	r.on = shortest > 0
	r.every = min(max(shortest/looks, shortestGap), longestGap)
	r.next = time.Time{}
}

// nextLook is the time of the next check for starving pools; zero if none is needed.
func (r *reclaimer) nextLook() time.Time {
	if !r.on || r.departures.stops.left {
		return time.Time{}
	}
	return r.next
}

// isTime reports whether it is time for a check. While no task waits, no pool starves.
func (r *reclaimer) isTime() bool {
	if !r.on || r.departures.stops.left || r.site.at.Before(r.next) {
		return false
	}
	if r.tree.pools[Root].Waiting == 0 {
		r.hungry = nil
		return false
	}
	return true
}

// lookAgain sets the next check: at the end of the first timeout, or after the interval.
func (r *reclaimer) lookAgain() {
	r.next = r.site.at.Add(max(r.every, time.Duration(len(r.tree.pools))*gapOfPool))
	for _, h := range r.hungry {
		if end := h.from.Add(h.after); end.After(r.site.at) && end.Before(r.next) {
			r.next = end
		}
	}
}

// reclaimSettings returns the reclaim settings of each pool. It relies on named pools having higher numbers than
// their parents.
func (t *tree) reclaimSettings() []share.Reclaim {
	all := make([]share.Reclaim, len(t.pools))
	for i := range all {
		all[i] = t.labels[i].reclaim
		if i != int(Root) && t.labels[i].kind == named {
			all[i] = all[i].Under(all[t.pools[i].parent])
		}
	}
	return all
}

// starving updates the records of starving pools, and returns the pools whose timeout is over: pools below their
// minimum first, then by how long they have starved.
func (r *reclaimer) starving(settings []share.Reclaim, entitled []Entitlement) []hunger {
	open, lacks := r.openWork()
	before := r.hungry
	now := map[lacking]hunger{}
	var due []hunger
	note := func(h hunger) {
		h.since, h.from = r.site.at, r.site.at
		if old, known := before[h.lacking]; known {
			seconds := r.site.at.Sub(r.seen).Seconds()
			h.since, h.from, h.owed = old.since, old.from, old.owed+(old.goal-old.running)*seconds
			h.fruitless = old.fruitless
		}
		now[h.lacking] = h
		if r.site.at.Sub(h.from) >= h.after {
			due = append(due, h)
		}
	}
	for i := 1; i < len(r.tree.pools); i++ {
		id, p, set := int32(i), &r.tree.pools[i], settings[i]
		if r.tree.labels[i].kind == priorityClass || !open[i] {
			continue
		}
		if k := lacks[i]; k >= 0 && set.MinAfter > 0 {
			l := r.tree.limits(id)
			note(hunger{lacking: lacking{id, StopMin}, after: set.MinAfter, resource: int(k), running: float64(l.used[k]), goal: float64(l.min[k])})
		}
		if goal := entitled[i].Now; set.ShareAfter > 0 && p.Running < cmp.Or(set.Below, share.DefaultBelow)*goal-rounding {
			note(hunger{lacking: lacking{id, StopShare}, after: set.ShareAfter, running: p.Running, goal: goal})
		}
	}
	r.hungry, r.seen = now, r.site.at
	slices.SortFunc(due, func(a, b hunger) int {
		return cmp.Or(-cmp.Compare(a.rule, b.rule), a.since.Compare(b.since), cmp.Compare(a.pool, b.pool))
	})
	return due
}

// openWork reports for each pool whether some of its waiting tasks are held back by lack of room only. It also
// reports which of the resources that they ask for is below the pool's minimum, or -1 if none is. A pool also lacks
// room if a pool above it is at its maximum, because a sibling can give room.
func (r *reclaimer) openWork() (open []bool, lacks []int16) {
	open, lacks = make([]bool, len(r.tree.pools)), make([]int16, len(r.tree.pools))
	for i := range lacks {
		lacks[i] = -1
	}
	could := make([]int8, r.site.cluster.Keys()) // 0: not asked yet
	for i := range r.queues.all {
		q := &r.queues.all[i]
		for k := range q.subs() {
			sub := q.sub(k)
			if !sub.hopes() {
				continue
			}
			if could[sub.key] == 0 {
				could[sub.key] = -1
				if r.site.cluster.Empty().Could(sub.key) {
					could[sub.key] = 1
				}
			}
			if could[sub.key] > 0 {
				r.tree.markWork(q.pool, r.tree.fullFor(q.pool, sub.key), r.site.cluster.Request(sub.key), open, lacks)
			}
		}
	}
	return open, lacks
}

// markWork marks the pools on the path from a leaf pool upwards that could start a task if others gave room. It
// leaves out the first pool at its maximum and the pools above it.
func (t *tree) markWork(id, full int32, request []int64, open []bool, lacks []int16) {
	for ; id >= 0 && id != full; id = t.pools[id].parent {
		open[id] = true
		l := t.limits(id)
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

// again restarts the timeout of a pool.
func (r *reclaimer) again(n lacking, now time.Time) {
	if h, ok := r.hungry[n]; ok {
		h.from = now
		r.hungry[n] = h
	}
}

// tried records whether no task could be stopped for a starving pool.
func (r *reclaimer) tried(n lacking, fruitless bool) {
	if h, ok := r.hungry[n]; ok {
		h.fruitless = fruitless
		r.hungry[n] = h
	}
}

// fork copies the records for a fork; a fork that answers questions stops no tasks, see [Scheduler.Fork].
func (r *reclaimer) fork() {
	r.hungry = maps.Clone(r.hungry)
	r.on = false
}

// partsLeft returns the entitlements that decide which tasks are stopped: protected tasks keep their room, and the
// others divide the rest.
func (r *reclaimer) partsLeft(settings []share.Reclaim) []Entitlement {
	f := newFilling(r.site, r.tree, r.queues)
	f.pack(r.running)
	f.kept = r.running.spared(settings)
	return f.entitle()
}
