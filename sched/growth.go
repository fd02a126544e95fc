package sched

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/share"
)

// growth creates pools, priority classes and sub-queues for the first job that needs them.
type growth struct {
	site       *site
	tree       *tree
	precedence *precedence
	orders     *orders
	queues     *queues
	turns      *turns
	overrides  *overrides

	applying bool // the configuration names the new pools
}

// Pool returns the pool at path, and creates it with weight 1 if it does not exist. Only leaf pools hold jobs: for
// a path with children it returns the child path/default.
func (g *growth) Pool(path string) PoolID {
	id := int32(Root)
	if path != "" {
		for name := range strings.SplitSeq(path, "/") {
			id = g.child(id, name, named)
		}
	}
	if g.tree.pools[id].inner >= 0 && !g.tree.banded(id) {
		id = g.child(id, share.DefaultPool, named)
	}
	g.turns.meetDominant()
	return PoolID(id)
}

// child returns the child of that name, and creates it if it does not exist.
func (g *growth) child(parent int32, name string, k kind) int32 {
	if id, ok := g.tree.index[childKey{parent, name, k}]; ok {
		return id
	}
	switch {
	case g.tree.pools[parent].inner < 0:
		g.branch(parent, k)
		if id, ok := g.tree.index[childKey{parent, name, k}]; ok {
			return id
		}
	case k == named && g.tree.banded(parent):
		g.unband(parent)
		return g.child(parent, name, k)
	}
	return g.newPool(parent, name, k)
}

func (g *growth) newPool(parent int32, name string, k kind) int32 {
	id := int32(len(g.tree.pools))
	p := Pool{Weight: 1, parent: parent, inner: -1, queue: -1, limit: -1, priority: -1, First: math.Inf(1)}
	for k := range g.orders.places {
		g.orders.places[k] = append(g.orders.places[k], -1)
	}
	for k := range g.orders.dominants.drifts {
		g.orders.dominants.drifts[k] = append(g.orders.dominants.drifts[k], 0)
	}
	for m := range g.orders.dominants.ready {
		g.orders.dominants.ready[m] = append(g.orders.dominants.ready[m], 0)
	}
	g.tree.pools = append(g.tree.pools, p)
	g.tree.ownNames()
	g.tree.labels = append(g.tree.labels, label{name: name, kind: k, weight: 1, first: g.site.at})
	if g.precedence.ranks != nil {
		g.precedence.ranks.grow(len(g.tree.pools))
	}
	if parent < 0 {
		return id
	}
	g.tree.index[childKey{parent, name, k}] = id
	in := &g.tree.inners[g.tree.pools[parent].inner]
	g.tree.pools[id].seat.kid = int32(len(in.kids))
	in.kids = append(in.kids, id)
	g.tree.keepDaysOf(id, nil)
	if in.as.allot != nil {
		in.allotting.fresh = false
	}
	if k == priorityClass {
		priority, isNew := strings.CutSuffix(name, newSuffix)
		g.tree.pools[id].priority, g.tree.pools[id].isNew = int8(g.site.priority(priority)), isNew
		g.tree.labels[id].weight = g.site.classWeight(int(g.tree.pools[id].priority), isNew)
		g.tree.pools[id].Weight = g.tree.labels[id].weight
		return id
	}
	g.overrides.bindNew(id)
	g.overrides.pauseNew(id)
	if !g.applying && g.tree.labels[parent].starter.Weight > 0 {
		g.overrides.restart(id, 0)
		g.tree.pools[id].Weight = g.overrides.weightOf(id)
	}
	return id
}

// inherit sets the policy of an inner pool: its own, or that of the nearest pool above that names one.
func (ord *orders) inherit(id int32) {
	in := &ord.tree.inners[ord.tree.pools[id].inner]
	if p := ord.tree.policyOf(id); ord.tree.pools[id].classed {
		in.setPolicy(ord.site.amongPriorities(p))
	} else {
		in.setPolicy(p)
	}
	ord.tree.renewalOf(in)
	ord.holds = ord.holds || in.held != nil
	if in.as.allot != nil && !ord.tree.allots {
		ord.tree.allots, ord.dominants.stale = true, true // the demand was not counted before
	}
	if in.as.allot != nil && !ord.tree.pools[id].classed {
		if threshold, after := in.as.allot.Rebalances(); threshold > 0 && after > 0 &&
			!slices.Contains(ord.tree.rebalancers, id) {
			ord.tree.rebalancers = append(slices.Clip(ord.tree.rebalancers), id)
		}
	}
	_, in.byFirst = in.policy.(byArrival)
	in.first, in.ranks = in.byFirst, in.as.ranker != nil
	if id != int32(Root) {
		above := ord.tree.parentOf(id)
		in.first, in.ranks = in.first || above.first, in.ranks || above.ranks
	}
}

// branch turns a leaf pool into an inner pool. Its jobs move to a new child: the priority class of their priority,
// or the child "default".
func (g *growth) branch(id int32, k kind) {
	g.orders.takeOut(id)
	g.turns.rebuilding = true // the pool returns to its old place
	defer func() { g.turns.rebuilding = false }()
	p := &g.tree.pools[id]
	queue := p.queue
	p.inner, p.queue = int32(len(g.tree.inners)), -1
	p.classed = k == priorityClass
	g.tree.inners = append(g.tree.inners, newInner(id))
	g.tree.inners[p.inner].mean = p.Mean
	g.orders.inherit(id)
	if id != int32(Root) {
		g.tree.keepDaysOf(id, g.tree.daysOf(p))
	}
	if queue < 0 {
		return
	}
	name := share.DefaultPool
	if k == priorityClass {
		name = g.site.className(int(p.priority), p.isNew)
	}
	g.turns.handOver(queue, g.newPool(id, name, k))
}

// unband makes room for named children in a leaf pool with priority classes: the leaf pool becomes an inner pool,
// and its new child "default" takes over the priority classes.
func (g *growth) unband(id int32) {
	g.orders.takeOut(id)
	g.orders.deferred = true
	p := &g.tree.pools[id]
	bands := p.inner
	p.inner = int32(len(g.tree.inners))
	g.tree.inners = append(g.tree.inners, newInner(id))
	g.tree.inners[p.inner].mean = p.Mean
	p.classed = false
	g.orders.inherit(id)
	c := g.newPool(id, share.DefaultPool, named)
	g.tree.copyDown(id, c)
	g.tree.pools[c].inner, g.tree.inners[bands].id = bands, c
	g.tree.pools[c].classed = true
	g.orders.inherit(c)
	g.tree.ownNames()
	for _, kid := range g.tree.inners[bands].kids {
		g.tree.pools[kid].parent = c
		p, child := &g.tree.pools[c], &g.tree.pools[kid]
		p.sum(child)
		if into, from := g.tree.daysOf(p), g.tree.daysOf(child); into != nil && from != nil {
			into.Merge(from, g.site.instant.Unix)
		}
		if q, some := g.tree.queued[kid]; some {
			g.tree.queued[c] = inQueue{g.tree.queued[c].tasks + q.tasks, g.tree.queued[c].units + q.units}
		}
		l := g.tree.labels[kid]
		delete(g.tree.index, childKey{id, l.name, l.kind})
		g.tree.index[childKey{c, l.name, l.kind}] = kid
	}
	g.turns.rebuild()
}

// Leaf returns the pool that holds a job, or would hold it, priority classes included. It creates none.
func (g *growth) Leaf(j Job) PoolID {
	id := int32(j.Pool)
	if !g.tree.banded(id) {
		return PoolID(id)
	}
	if b, begun := g.queues.begunOf[j.ID]; begun && g.queues.begun[b].waiting > 0 {
		return PoolID(g.queues.all[g.queues.begun[b].at.queue].pool)
	}
	if at, found := g.held(j); found {
		return PoolID(g.queues.all[at.queue].pool)
	}
	for _, isNew := range []bool{g.site.isNew(j), !g.site.isNew(j)} {
		if b, ok := g.tree.index[childKey{id, g.site.className(j.Priority, isNew), priorityClass}]; ok {
			return PoolID(b)
		}
	}
	return PoolID(id)
}

// leaf returns the leaf pool for a job: the job's pool or, if that holds jobs of several priorities or new jobs
// beside others, the priority class of the job. It creates a missing one.
func (g *growth) leaf(j Job, isNew bool) int32 {
	id := int32(j.Pool)
	for {
		p := &g.tree.pools[id]
		switch {
		case p.inner < 0 && g.queues.mixed(id):
			p.priority, p.isNew = int8(j.Priority), false
			return id
		case p.inner < 0 && (p.priority == int8(j.Priority) && p.isNew == isNew || p.Waiting == 0 &&
			g.tree.labels[id].kind == named):
			p.priority, p.isNew = int8(j.Priority), isNew
			return id
		case p.inner < 0 || g.tree.banded(id):
			id = g.child(id, g.site.className(j.Priority, isNew), priorityClass)
		default: // the pool got children after its number was handed out
			id = int32(g.Pool(g.tree.Path(PoolID(id))))
		}
	}
}

func (g *growth) newSubQueue(leaf int32, of ask) subQueue {
	return subQueue{ask: of, gate: g.overrides.openGate(leaf), full: -1}
}

// subFor returns the sub-queue of a leaf pool for jobs with the same request, and creates it if it does not exist.
func (g *growth) subFor(leaf int32, of ask) subRef {
	p := &g.tree.pools[leaf]
	if p.queue < 0 {
		p.queue = int32(len(g.queues.all))
		g.queues.all = append(g.queues.all, queue{pool: leaf, first: g.newSubQueue(leaf, of),
			strict: g.tree.strict(leaf), ranked: g.tree.ranked(leaf), max: g.tree.jobRunning(leaf)})
	}
	q, spare := &g.queues.all[p.queue], -1
	for i := range q.subs() {
		sub := q.sub(i)
		if sub.ask == of {
			return subRef{p.queue, int32(i)}
		}
		if sub.spare() {
			spare = i
		}
	}
	if spare >= 0 {
		q.sub(spare).ask = of
		return subRef{p.queue, int32(spare)}
	}
	q.more = append(q.more, g.newSubQueue(leaf, of))
	switch {
	case q.ordered():
		q.heads.pos = append(q.heads.pos, -1)
	case q.subs() > few:
		g.queues.orderSubs(q)
	}
	return subRef{p.queue, int32(len(q.more))}
}

// waitingHead finds the sub-queue with a waiting task of a job.
func (g *growth) waitingHead(j Job) (at subRef, h head, found bool) {
	if b, begun := g.queues.begunOf[j.ID]; begun {
		x := &g.queues.begun[b]
		return x.at, x.head(b), x.waiting > 0
	}
	if at, found = g.held(j); !found {
		return at, h, false
	}
	fresh := &g.queues.sub(at).fresh
	ci, i, _ := fresh.find(j.ID)
	return at, fresh.chunk(ci).entries[i].head(), true
}

func (g *growth) adoptBegun(j Job, leaf int32, started time.Time) int32 {
	b, ok := g.queues.begunOf[j.ID]
	if !ok {
		b = g.queues.begin(entry{id: j.ID, since: g.site.sinceThen(&j), max: int32(j.MaxRunning)}, g.subFor(leaf, askOf(&j)))
	}
	g.queues.change(g.queues.begun[b].at, func(*subQueue) {
		g.queues.begun[b].starts(since(started))
		g.queues.reheap(b)
	})
	return b
}

// held finds the sub-queue of a waiting job if none of its tasks has started.
func (g *growth) held(j Job) (at subRef, found bool) {
	id := int32(j.Pool)
	leaves := []int32{id}
	switch {
	case g.tree.pools[id].inner < 0:
	case !g.tree.banded(id): // it got children after its number was handed out
		leaves[0] = int32(g.Pool(g.tree.Path(j.Pool)))
	default:
		leaves = leaves[:0]
		for _, isNew := range []bool{true, false} {
			if b, there := g.tree.index[childKey{id, g.site.className(j.Priority, isNew), priorityClass}]; there {
				leaves = append(leaves, b)
			}
		}
	}
	for _, leaf := range leaves {
		if n := g.tree.pools[leaf].queue; n >= 0 {
			if at, found = g.queues.freshIn(n, j.ID); found {
				return at, true
			}
		}
	}
	return at, false
}
