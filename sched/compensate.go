package sched

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// A policy that compares only the running tasks, such as drf and load, forgets for how long the wide job of a pool has
// waited. When that job ends, no pool has running tasks, other pools go first again, and each wide job has to wait for
// the nodes anew. Under these policies a pool therefore keeps its turn. The pool may have received less than its share
// since its job became the first without room. Then its next job with the same request takes over the turn, and nodes
// are held for that job at once. For the same reason, a first job starts as soon as the room that was kept for it is
// free, even if its pool then ties with others. The other policies need no such rules, because their order compensates
// the pool.

// arrears is the compensation of pools.
type arrears struct{ *reserve }

// takeOver gives the turn of a job that has started to the next job of its sub-queue, if the pool has still received
// less than its share.
func (f arrears) takeOver(t turn, at subRef) {
	p, sub, leaf := &f.backfill.patience, f.queues.sub(at), f.queues.all[at.queue].pool
	if sub.tasks == 0 || !f.tree.forgets(leaf) {
		return
	}
	t.job, t.at, t.share = f.queues.head(sub, true).id, at, f.shareFor(at)
	if _, known := p.find(t.job); known || f.owed(&t) <= 0 {
		return
	}
	p.of = append(p.of, t)
	if p.held.job == 0 && f.backfill.plan != nil {
		// Hold nodes for this job before another job without room gets them. If this job has room now, it may start.
		f.holdFor(t, f.site.instantOf()+1)
	}
}

// someAskLess reports whether waiting tasks take fewer units at once than tasks with a key. Otherwise no job can pass
// these tasks.
func (h *gates) someAskLess(key cluster.Key) bool {
	units := h.site.units(key)
	less := func(other cluster.Key) bool { return h.site.units(other) < units }
	return slices.ContainsFunc(h.queues.readyKeys.active, less) || slices.ContainsFunc(h.noRoom.active, less)
}

// units is the number of units that the tasks with a key that start together take.
func (m *site) units(key cluster.Key) float64 { return m.cluster.Width(key) * float64(m.atOnce(key)) }

// holdOwed holds nodes for a job that took over a turn. A pool that has received its share loses the turn.
func (f arrears) holdOwed() {
	p := &f.backfill.patience
	p.of = slices.DeleteFunc(p.of, func(t turn) bool { return f.isPaid(&t) })
	for i := 0; i < len(p.of) && p.held.job == 0; i++ {
		if p.of[i].share > 0 && f.queues.there(p.of[i].at) {
			f.holdFor(p.of[i], 0)
		}
	}
}

// came returns the turn of a first job whose kept room is free now; its job is 0 if there is none. The job has to start
// now, or others would go first again.
func (f arrears) came() turn {
	for i := range f.backfill.firsts {
		if t, has := f.hasCome(&f.backfill.firsts[i]); has {
			return t
		}
	}
	return turn{}
}

// hasCome returns the turn of a first job, and reports whether its kept room is free now while its pool has received
// less than its share.
func (f arrears) hasCome(r *reserved) (t turn, has bool) {
	p := &f.backfill.patience
	i, known := p.find(r.job)
	if !known || r.held || !f.queues.there(r.at) || !f.tree.forgets(f.queues.all[r.at.queue].pool) {
		return t, false
	}
	if _, fits := f.findPaid(r.key, f.queues.sub(r.at).limit); !fits {
		return t, false
	}
	t = p.of[i]
	t.at, t.share = r.at, f.shareFor(r.at)
	return t, f.owed(&t) > 0
}

// shareFor is the part of the cluster that compensates the pool of a sub-queue.
func (f arrears) shareFor(at subRef) float64 {
	return f.tree.part(f.tree.learner(f.queues.all[at.queue].pool)) / f.dominance(f.queues.sub(at).key)
}

// holdFor holds nodes for the job of a turn, if the job has no room before an instant.
func (f arrears) holdFor(t turn, before int64) {
	r := f.queues.unplacedAt(t.at, t.job)
	if !f.queues.waitsForRoom(&r) || !f.keepRoom(&r) {
		return
	}
	f.holdRoom(&r, +1)
	if r.from >= before && f.site.opens(&r) <= f.site.instantOf() {
		f.hold(&r)
	}
}

// isPaid reports whether a turn was taken over and its pool has received its share.
func (f arrears) isPaid(t *turn) bool { return t.share > 0 && f.owed(t) <= 0 }

// takesOver reports whether a job took over a turn and waits for nodes to be held.
func (p *patience) takesOver() bool {
	return p.held.job == 0 && slices.ContainsFunc(p.of, func(t turn) bool { return t.share > 0 })
}

// Tasks with a key take one part of the cluster in their dominant resource, and are charged for another part. The
// method dominance returns the ratio of the first to the second, if the first is larger. A pool that is entitled to
// half of the cluster should not be compensated by all GPUs because these come with few processors.
func (f arrears) dominance(key cluster.Key) float64 {
	if charged := f.tariff.price(key) / f.tariff.worth(); charged > 0 {
		return max(1, f.tariff.largestPart(f.site.cluster.Request(key))/charged)
	}
	return 1
}

// owed is the service, in the units of the clock, that the pool of a turn has missed since the turn began. It is the
// pool's part of the cluster, less the service that the pool received.
func (f arrears) owed(t *turn) float64 {
	p := f.poolOf(t.at)
	now, first := f.site.now, f.site.clock.At(time.Unix(0, t.first))
	due := float64(t.share * f.site.instant.Capacity * (now.Tau - first.Tau))
	return due - (p.Service(now) - float64(t.served*first.Growth))
}

// servedAt is the service of the pool of a sub-queue up to now, as it counts now.
func (f arrears) servedAt(at subRef) float64 {
	return f.poolOf(at).Service(f.site.now) / f.site.now.Growth
}

// poolOf is the pool whose jobs wait in a sub-queue, with all its priorities.
func (f arrears) poolOf(at subRef) *Pool {
	return &f.tree.pools[f.tree.learner(f.queues.all[at.queue].pool)]
}

// forgets reports whether the policy of a pool above compares only the running tasks.
func (t *tree) forgets(id int32) bool {
	for ; id != int32(Root); id = t.pools[id].parent {
		if in := t.parentOf(id); in.held != nil || in.as.allot != nil {
			return true
		}
	}
	return false
}

// part is the part of the cluster that the weights give a pool among the pools with tasks.
func (t *tree) part(id int32) float64 {
	part := 1.0
	for ; id != int32(Root); id = t.pools[id].parent {
		all := 0.0
		for _, kid := range t.parentOf(id).kids {
			if p := &t.pools[kid]; kid == id || p.Tasks > 0 || p.Waiting > 0 {
				all += p.Weight
			}
		}
		if all == 0 {
			return 0
		}
		part *= t.pools[id].Weight / all
	}
	return part
}
