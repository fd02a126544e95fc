package sched

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/why"
)

// How others pass a job for ever: the names of the gates that say so, see [GateView.Starves].
const (
	byFirstFit = "first-fit"       // no room is kept, and others that ask for less take what becomes free
	byHorizon  = "backfill_window" // there is room later than that only, and none is kept
	byAnew     = "choice"          // who goes first is chosen anew whenever some of the room becomes free
	byUnkept   = "licenses"        // no license is kept, and others that ask for fewer take what becomes free
	byMaximum  = "maximum"         // others that ask for less use up what the maximum of a pool leaves
	byRank     = "priority"        // jobs of a higher priority go first, whenever they come
	byNoWeight = "weight"          // a pool on the way is entitled to nothing, and all others go first
	byTarget   = "target"          // a pool on the way is due less than a slot, and all others go first
	byUnused   = "unused share"    // another pool has a larger share, and never uses it up
	byLicenses = "license order"   // others are due what a license keeps from starting
	byFactors  = "factors"         // no age and no use of shares makes up for those of others
)

// starving are the codes of these.
var starving = map[string]why.Code{
	byFirstFit: why.StarveWidth, byHorizon: why.StarveWidth, byAnew: why.StarveWidth, byUnkept: why.StarveWidth,
	byMaximum: why.StarveWidth, byNoWeight: why.StarveShare, byTarget: why.StarveShare, byUnused: why.StarveShare,
	byRank: why.StarveOrder, byLicenses: why.StarveOrder, byFactors: why.StarveOrder,
}

// passing is what others ask for that may pass a job.
type passing struct {
	leaf int32
	ask  ask
	last int64 // the newest of their jobs
}

// passers counts what passes a job in and below a pool: running tasks that started since it came, and tasks
// that wait for room or at the gate that holds the job, too. It adds the text to g, and reports whether
// there are any.
func (v GateView) passers(j *Job, below int32, at gate, g *why.Gate, passes func(*passing) bool) bool {
	tasks, started, waiting := map[int32]int64{}, int64(0), int64(0)
	for i := range v.s.running.runs {
		r := &v.s.running.runs[i]
		p := passing{r.pool, r.ask(), r.job}
		if !r.used || r.job == j.ID || !r.started.After(j.Submitted) || !v.s.tree.within(r.pool, below) || !passes(&p) {
			continue
		}
		started++
		tasks[v.s.tree.named(r.pool)]++
	}
	for i := range v.s.lines.queues {
		q := &v.s.lines.queues[i]
		if !v.s.tree.within(q.pool, below) {
			continue
		}
		for k := range q.lines() {
			l := q.line(k)
			p := passing{q.pool, l.ask, 0}
			if l.tasks == 0 || l.held() && l.gate != at {
				continue
			}
			if p.last = v.s.lines.newest(l); passes(&p) {
				waiting += l.tasks
				tasks[v.s.tree.named(q.pool)] += l.tasks
			}
		}
	}
	pools := slices.SortedFunc(maps.Keys(tasks), func(a, b int32) int {
		return cmp.Or(cmp.Compare(tasks[b], tasks[a]), cmp.Compare(a, b))
	})
	g.Text = v.passersText(pools, started, waiting)
	return len(tasks) > 0
}

// passersText says how many tasks pass a job, and names their pools.
func (v GateView) passersText(pools []int32, started, waiting int64) string {
	var names []string
	for _, id := range pools[:min(len(pools), 3)] {
		names = append(names, pathOf(v.s.tree.Path(PoolID(id))))
	}
	if left := len(pools) - len(names); left > 0 {
		names = append(names, fmt.Sprintf("%d more", left))
	}
	var parts []string
	if started > 0 {
		parts = append(parts, fmt.Sprintf("%d running that started since it came", started))
	}
	if waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", waiting))
	}
	return fmt.Sprintf("tasks of %s: %s", strings.Join(names, ", "), strings.Join(parts, ", "))
}

// newest is the job of a line that came last.
func (w *lines) newest(l *line) (id int64) {
	if l.fresh.jobs > 0 {
		last := l.fresh.chunk(l.fresh.chunks() - 1).entries
		id = last[len(last)-1].id
	}
	for _, b := range l.begun {
		id = max(id, w.begun[b].id)
	}
	return id
}
