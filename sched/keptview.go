package sched

import (
	"iter"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// holeGate closes the gate of the nodes for a job that would fit on some node now, but not for as long as it may
// run.
func (v GateView) holeGate(j *Job, g why.Gate) why.Gate {
	if !g.Open {
		return g
	}
	if kept := v.InTheWay(*j); kept != nil {
		g.Open, g.Code, g.Kept = false, why.FitReserved, kept
	}
	return g
}

// InTheWay returns the planned start of another job that keeps a job from starting although it
// would fit now; nil if there is none.
func (v GateView) InTheWay(j Job) *room.Kept {
	if v.s.reserve.backfill.plan == nil || v.isFirst(j) {
		return nil
	}
	if _, fits := v.s.reserve.placeBehind(j.Key, v.lengthOf(&j), j.Limit); fits && !v.foundNoRoom(&j) &&
		v.s.Read().keptOf(j.ID) == nil {
		return nil
	}
	r, exact := v.inTheWay(&j)
	switch {
	case r == nil:
		return nil
	case !exact:
		return v.s.Read().whyKept(r)
	}
	return v.behind(r, &j)
}

// foundNoRoom reports whether the last step found no room for a job. The plan may be older: it shows room that does
// not exist if tasks run longer than it assumed.
func (v GateView) foundNoRoom(j *Job) bool {
	q := v.s.tree.pools[v.s.growth.Leaf(*j)].queue
	if q < 0 {
		return false
	}
	queue, a := &v.s.queues.all[q], askOf(j)
	for i := range queue.subs() {
		if sub := queue.sub(i); sub.ask == a {
			return sub.gate == byFit
		}
	}
	return false
}

// lengthOf is the planned run time of tasks of a job that start now.
func (v GateView) lengthOf(j *Job) int64 {
	a := askOf(j)
	return v.s.reserve.lengthNow(int32(v.s.Leaf(*j)), &a)
}

// inTheWay returns the earliest planned start of another job that the job would delay, on a node where the job would
// fit now; nil if there is none. The plan may show no such start, because it is older than the last end of a task. Then
// inTheWay returns the earliest planned start before the end of the job.
func (v GateView) inTheWay(j *Job) (first *reserved, exact bool) {
	for r := range v.s.Read().keptRoom() {
		if r.job == j.ID || r.from >= v.endOf(r, j) || !v.fitsOnOne(r.nodes, j.Key) {
			continue
		}
		if exact && r.from >= first.from {
			continue
		}
		delays := v.delays(r, j)
		if first == nil || delays && !exact || delays == exact && r.from < first.from {
			first, exact = r, delays
		}
	}
	return first, exact
}

// endOf is when a job that starts now would end, for the comparison with a planned start of another job. No prediction
// may break a promise.
func (v GateView) endOf(r *reserved, j *Job) int64 {
	length := v.lengthOf(j)
	if r.sure && j.Limit == 0 && !(beside{&v.s.reserve}).endsBeforeWindow(r, length) {
		length = int64(NoLimit)
	}
	return v.s.site.instantOf() + length
}

// lasting reports whether the running tasks without a time limit on the nodes of a planned start count as if they went
// on. They do if the planned start is a promise that the job that starts now could break.
func (v GateView) lasting(r *reserved, j *Job) bool {
	return r.sure && (j.Limit == 0 || v.s.running.endlessAmong(r.nodes))
}

// delays reports whether a job that starts now would delay a planned start on a node where it fits.
func (v GateView) delays(r *reserved, j *Job) bool {
	if v.s.Read().newer() {
		return false // the plan is not the one of the planned start
	}
	end := v.endOf(r, j)
	if v.lasting(r, j) {
		return slices.ContainsFunc(r.nodes, func(id cluster.NodeID) bool {
			return v.s.site.cluster.Fits(id, j.Key) && beside{&v.s.reserve}.besides(id, j.Key, r, end) == 0
		})
	}
	from, until := max(r.from, v.s.site.instantOf()), min(end, r.until())
	return slices.ContainsFunc(r.nodes, func(id cluster.NodeID) bool {
		return v.s.site.cluster.Fits(id, j.Key) && !v.s.reserve.backfill.plan.Fits(id, j.Key, from, until)
	})
}

// fitsOnOne reports whether a task with the key fits on some of the nodes now.
func (v GateView) fitsOnOne(nodes []cluster.NodeID, key cluster.Key) bool {
	return slices.ContainsFunc(nodes, func(id cluster.NodeID) bool { return v.s.site.cluster.Fits(id, key) })
}

// keptRoom yields all planned starts, in order.
func (v View) keptRoom() iter.Seq[*reserved] {
	return func(yield func(*reserved) bool) {
		b := &v.s.reserve.backfill
		firsts, others := b.firsts, b.keep.all
		if v.newer() {
			firsts, others = nil, planShown(v.s)
		}
		for _, all := range [][]reserved{firsts, others} {
			for i := range all {
				if r := &all[i]; r.from != unplaced && !yield(r) {
					return
				}
			}
		}
	}
}

// newer reports whether jobs came since the last plan was made. If so, keptRoom shows a newer plan.
func (v View) newer() bool {
	b := &v.s.reserve.backfill
	return b.plan != nil && !b.stable && len(b.keep.fresh) > 0
}

// keptOf returns the earliest planned start of a job, nil if there is none.
func (v View) keptOf(job int64) *reserved {
	var first *reserved
	for r := range v.keptRoom() {
		if r.job == job && (first == nil || r.from < first.from) {
			first = r
		}
	}
	return first
}

// Kept returns the earliest planned start of each job, as of the last step.
func (v View) Kept() map[int64]room.Kept {
	if v = v.withFirst(); v.s.reserve.backfill.plan == nil {
		return nil
	}
	all := map[int64]room.Kept{}
	for r := range v.keptRoom() {
		if had, known := all[r.job]; !known || r.from < had.From.UnixNano() {
			all[r.job] = *v.whyKept(r)
		}
	}
	return all
}

// KeptFor returns the earliest planned start of a job, as of the last step; nil if there is none.
func (v View) KeptFor(job int64) *room.Kept {
	if v = v.withFirst(); v.s.reserve.backfill.plan == nil {
		return nil
	}
	r := v.keptOf(job)
	if r == nil {
		return nil
	}
	k := v.whyKept(r)
	k.Endless = v.endlessAt(r)
	return k.WithPlan(func() *room.Plan { return v.planOf(r) })
}

// whyKept describes a planned start for an answer.
func (v View) whyKept(r *reserved) *room.Kept {
	b, now := &v.s.reserve.backfill, v.s.site.instantOf()
	from := max(r.from, now) // a task over its limit may still be there
	k := &room.Kept{Job: r.job, Nodes: v.s.site.nodeNames(r.nodes),
		From: time.Unix(0, from), To: time.Unix(0, from+r.to-r.from)}
	k.Unlimited, k.Held, k.MayMove = r.endless, r.held, !b.arrival
	k.First = v.goesFirst(r)
	k.Predicted = !r.sure || beforePromise(&v.s.reserve, r) || !k.First && v.replans() ||
		v.s.site.cluster.Windows().Any() && v.s.running.endlessAmong(r.nodes)
	k.Overdue = k.Predicted && (r.from <= now || v.s.running.lateAmong(r.nodes))
	switch {
	case r.held && r.lacksLicense:
		k.Nodes, k.Predicted, k.Overdue = nil, true, false
	case r.held:
		v.expected(r, k)
	}
	if i, known := b.patience.find(r.job); known && k.First {
		t := &b.patience.of[i]
		since := time.Unix(0, t.first)
		k.Owed = t.share > 0
		if k.Since = &since; !r.held && t.until > now && t.until < cluster.Forever {
			until := time.Unix(0, t.until)
			k.HeldFrom = &until
		}
	}
	return k
}

// goesFirst reports whether a planned start belongs to a first job without room.
func (v View) goesFirst(r *reserved) bool {
	b := &v.s.reserve.backfill
	if v.newer() {
		return r.held || r.job == b.keep.inOrder.shownFirst
	}
	return slices.ContainsFunc(b.firsts, func(x reserved) bool { return x.job == r.job })
}

// replans reports whether conservative backfilling in order of arrival will plan all room anew, because tasks without a
// time limit run or wait. Then only the start of the first job is sure.
func (v View) replans() bool {
	b := &v.s.reserve.backfill
	return v.s.site.plans == plansAll && b.arrival && (!b.stable || b.promises.endless > 0)
}

// endlessAt lists up to three jobs that have tasks without a time limit on the nodes of a planned start that rests on
// predictions. While these tasks run, no latest start is known.
func (v View) endlessAt(r *reserved) (jobs []int64) {
	const most = 3
	if v.s.running.endless.all == 0 || r.sure {
		return nil
	}
	for i := range v.s.running.runs {
		x := &v.s.running.runs[i]
		if x.used && x.limit == 0 && r.on(x.node) && !slices.Contains(jobs, x.job) {
			jobs = append(jobs, x.job)
		}
	}
	slices.Sort(jobs)
	return jobs[:min(len(jobs), most)]
}

// isFirst reports whether the job is one with kept room that goes before all other jobs.
func (v GateView) isFirst(j Job) bool {
	r := v.s.reserve.keptAhead(j.Key)
	return r != nil && r.job == j.ID
}
