package sched

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/why"
)

// The names of the gates that say how other jobs can pass a job forever, see [GateView.Starves].
const (
	byFirstFit = "first-fit"       // no room is kept, and smaller requests take the room that becomes free
	byHorizon  = "backfill_window" // room appears only later than that, and no room is kept
	byAnew     = "choice"          // the policy chooses anew whenever part of the room becomes free
	byUnkept   = "licenses"        // no license is kept, and jobs that need fewer take the free ones
	byMaximum  = "maximum"         // smaller requests use up the room under the maximum of a pool
	byRank     = "priority"        // jobs of a higher priority go first, whenever they come
	byNoWeight = "weight"          // a pool on the path is entitled to nothing, and all others go first
	byTarget   = "target"          // a pool on the path is entitled to less than a slot, and all others go first
	byUnused   = "unused share"    // another pool has a larger share, and never uses it up
	byLicenses = "license order"   // others count as behind because a license keeps their jobs from starting
	byFactors  = "factors"         // neither age nor usage can make up for the factors of others
)

// starving has the reason codes of these gates.
var starving = map[string]why.Code{
	byFirstFit: why.StarveWidth, byHorizon: why.StarveWidth, byAnew: why.StarveWidth, byUnkept: why.StarveWidth,
	byMaximum: why.StarveWidth, byNoWeight: why.StarveShare, byTarget: why.StarveShare, byUnused: why.StarveShare,
	byRank: why.StarveOrder, byLicenses: why.StarveOrder, byFactors: why.StarveOrder,
}

// passing is a request of other jobs that may pass a job.
type passing struct {
	leaf int32
	ask  ask
	last int64 // the newest of these jobs
}

// passers counts the tasks in and below a pool that pass a job. These are running tasks that started since the job
// came, and tasks that wait for room or at the same gate as the job. It adds the text to g, and reports whether
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
	for i := range v.s.queues.all {
		q := &v.s.queues.all[i]
		if !v.s.tree.within(q.pool, below) {
			continue
		}
		for k := range q.subs() {
			sub := q.sub(k)
			p := passing{q.pool, sub.ask, 0}
			if sub.tasks == 0 || sub.held() && sub.gate != at {
				continue
			}
			if p.last = v.s.queues.newest(sub); passes(&p) {
				waiting += sub.tasks
				tasks[v.s.tree.named(q.pool)] += sub.tasks
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

// newest is the newest job of a sub-queue.
func (w *queues) newest(sub *subQueue) (id int64) {
	if sub.fresh.jobs > 0 {
		last := sub.fresh.chunk(sub.fresh.chunks() - 1).entries
		id = last[len(last)-1].id
	}
	for _, b := range sub.begun {
		id = max(id, w.begun[b].id)
	}
	return id
}
