package sched

import (
	"container/heap"
	"math"

	"github.com/fairlead/fairlead/cluster"
)

// queues are the waiting jobs, in one sub-queue per request in each leaf pool.
type queues struct {
	site       *site
	tree       *tree
	precedence *precedence
	orders     *orders

	all       []queue
	begun     []begun
	begunOf   map[int64]int32
	begunFree freeList
	readyKeys keyCounts // sub-queues with work and no closed gate
}

// few is the number of sub-queues up to which a scan is faster than an order.
const few = 3

func (w *queues) heapOf(at subRef) begunHeap {
	q := &w.all[at.queue]
	return begunHeap{w.begun, q.sub(int(at.sub)), q.strict}
}

func (w *queues) sub(at subRef) *subQueue { return w.all[at.queue].sub(int(at.sub)) }

// byResource reports whether the place of a pool depends on the resources that its tasks ask for.
func (ord *orders) byResource() bool {
	return ord.tree.apart || ord.owes && len(ord.dominants.resources) > 1
}

// wanted counts a sub-queue that became ready, or is no longer ready, for the minima on its path. A pool without tasks
// for the resource that its minimum guarantees must not go first with other tasks.
func (t *tree) wanted(id int32, key cluster.Key, n int32) {
	if !t.apart {
		return
	}
	request := t.site.cluster.Request(key)
	for ; id >= 0; id = t.pools[id].parent {
		if l := t.limits(id); l != nil {
			for r := 1; r < min(len(l.wants), len(request)); r++ {
				if request[r] > 0 {
					l.wants[r] += n
				}
			}
		}
	}
}

// lacking is the nearest limit, from a leaf pool upwards, below its minimum, if minima count resources that only
// some tasks ask for; nil if there is none.
func (t *tree) lacking(id int32) *limit {
	if !t.apart {
		return nil
	}
	for ; id >= 0; id = t.pools[id].parent {
		if l := t.limits(id); l != nil && l.below() {
			return l
		}
	}
	return nil
}

func (w *queues) head(sub *subQueue, strict bool) head {
	if len(sub.begun) == 0 && sub.fresh.jobs > 0 {
		return sub.fresh.front().head()
	}
	h := head{id: math.MaxInt64, running: math.MaxInt32, begun: -1}
	if sub.fresh.jobs > 0 {
		h = sub.fresh.front().head()
	}
	if len(sub.begun) > 0 {
		b := sub.begun[0]
		if other := w.begun[b].head(b); other.before(h, strict) {
			h = other
		}
	}
	return h
}

// oldest is the first job of a sub-queue in order of submission. If the leaf pool serves jobs with the fewest running
// tasks first, it searches all begun jobs.
func (w *queues) oldest(q *queue, sub *subQueue) head {
	h := w.head(sub, true)
	if q.strict {
		return h
	}
	for _, i := range sub.begun {
		if b := &w.begun[i]; b.id < h.id {
			h = b.head(i)
		}
	}
	return h
}

// next returns the ready sub-queue of a leaf pool whose job goes first.
func (w *queues) next(leaf int32) (subRef, head) {
	n := w.tree.pools[leaf].queue
	q := &w.all[n]
	if q.ranked {
		return w.firstByRank(leaf)
	}
	lacks, bestHelps := w.tree.lacking(leaf), false
	if q.ordered() && lacks == nil {
		first := q.heads.heap[0]
		return subRef{n, first.sub}, first.head
	}
	best, at := head{id: math.MaxInt64, running: math.MaxInt32}, int32(-1)
	for i := range q.subs() {
		sub := q.sub(i)
		if !sub.ready() {
			continue
		}
		helps := lacks != nil && lacks.helped(w.site.cluster.Request(sub.key))
		if h := w.head(sub, q.strict); at < 0 || helps && !bestHelps || helps == bestHelps && h.before(best, q.strict) {
			best, at, bestHelps = h, int32(i), helps
		}
	}
	return subRef{n, at}, best
}

// firstArrival is the arrival of the job that comes first by priority, then by age, among the jobs of a leaf pool that
// may start.
func (w *queues) firstArrival(p *Pool) float64 {
	first, q := math.Inf(1), &w.all[p.queue]
	if q.ordered() && q.strict && !q.mixed {
		if q.ready > 0 {
			h := &q.heads.heap[0]
			first = arrival(q.sub(int(h.sub)).priority, h.id)
		}
		return first
	}
	for i := range q.subs() {
		if sub := q.sub(i); sub.ready() {
			first = min(first, arrival(sub.priority, w.oldest(q, sub).id))
		}
	}
	return first
}

// begin converts an entry to a begun job.
func (w *queues) begin(e entry, at subRef) int32 {
	b := w.begunFree.take(len(w.begun))
	if int(b) == len(w.begun) {
		w.begun = append(w.begun, begun{})
	}
	w.begun[b] = begun{id: e.id, since: e.since, turn: e.since, waiting: e.tasks, own: e.max, slot: -1, at: at,
		gang: w.site.gangOf(w.sub(at).key)}
	w.begun[b].max = tighter(e.max, w.all[at.queue].max)
	w.begunOf[e.id] = b
	w.sub(at).refs++
	return b
}

// reheap updates the place of a begun job in the heap of its sub-queue, or removes it when it cannot start tasks.
func (w *queues) reheap(b int32) {
	j := &w.begun[b]
	h := w.heapOf(j.at)
	switch want := j.waiting > 0 && !j.capped(); {
	case want && j.slot >= 0:
		heap.Fix(h, int(j.slot))
	case want:
		heap.Push(h, b)
	case j.slot >= 0:
		heap.Remove(h, int(j.slot))
	}
}

// release removes a begun job that is over.
func (w *queues) release(b int32) {
	if j := &w.begun[b]; j.waiting == 0 && j.running == 0 {
		delete(w.begunOf, j.id)
		w.sub(j.at).refs--
		w.begunFree = append(w.begunFree, b)
	}
}

// heldAlike returns the gate that holds back the other waiting jobs of a leaf pool with the same key as a sub-queue in
// one of its priority classes. It does so only if the pool has no work that may start. Such a leaf pool was not away,
// so it rejoins at its old place, whatever the priority of the new job.
func (w *queues) heldAlike(id int32, at subRef) gate {
	if w.tree.labels[id].kind != priorityClass || w.tree.pools[w.tree.pools[id].parent].seat.in {
		return noGate
	}
	key := w.sub(at).key
	for _, kid := range w.tree.inners[w.tree.pools[w.tree.pools[id].parent].inner].kids {
		n := w.tree.pools[kid].queue
		if n < 0 {
			continue
		}
		for i := range w.all[n].subs() {
			if sub := w.all[n].sub(i); sub.key == key && sub.tasks > 0 && sub.gate != noGate {
				return sub.gate
			}
		}
	}
	return noGate
}

// tasksOf is the number of tasks of a job that wait in a sub-queue and may start.
func (w *queues) tasksOf(job int64, at subRef) int32 {
	sub := w.sub(at)
	if sub.gate != noGate {
		return 0
	}
	if b, begun := w.begunOf[job]; begun {
		if j := &w.begun[b]; j.at == at {
			if j.capped() {
				return 0
			}
			return startable(j.waiting, j.running, j.max)
		}
		return 0
	}
	ci, i, found := sub.fresh.find(job)
	if !found {
		return 0
	}
	e := sub.fresh.chunk(ci).entries[i]
	return startable(e.tasks, 0, tighter(e.max, w.all[at.queue].max))
}

// startsOf is tasksOf, but counts a gang once.
func (w *queues) startsOf(job int64, at subRef) int32 {
	n := w.tasksOf(job, at)
	if w.site.gangOf(w.sub(at).key) > 0 {
		n = min(n, 1)
	}
	return n
}

func (w *queues) arrivalOf(at subRef, job int64) float64 {
	return arrival(w.sub(at).priority, job)
}

// mixed reports whether jobs of all priorities share one leaf pool. They do if each job has its own priority, to which
// the name of its priority only contributes as its quality of service. A leaf pool stays mixed until the jobs that
// came in this way have gone.
func (w *queues) mixed(id int32) bool {
	q := w.tree.pools[id].queue
	if w.precedence.ranks != nil && w.tree.ranked(id) {
		if q >= 0 {
			w.all[q].mixed = true
		}
		return true
	}
	if q >= 0 && w.all[q].mixed && w.tree.pools[id].Waiting == 0 {
		w.all[q].mixed = false
	}
	return q >= 0 && w.all[q].mixed
}

// orderSubs starts to keep the sub-queues in order, once there are many.
func (w *queues) orderSubs(q *queue) {
	q.heads = &heads{pos: make([]int32, q.subs())}
	for i := range q.heads.pos {
		q.heads.pos[i] = -1
	}
	for i := range q.subs() {
		w.orderSub(q, int32(i))
	}
}

// orderSub updates the place of a sub-queue.
func (w *queues) orderSub(q *queue, i int32) {
	if !q.ordered() {
		return
	}
	h := q.heads
	sub := q.sub(int(i))
	at := h.pos[i]
	if !sub.ready() {
		if at >= 0 {
			h.remove(at, q.strict)
		}
		return
	}
	e := subHead{w.head(sub, q.strict), i}
	switch {
	case at < 0:
		h.heap = append(h.heap, e)
		h.up(int32(len(h.heap)-1), e, q.strict)
	case e.before(h.heap[at].head, q.strict):
		h.up(at, e, q.strict)
	default:
		h.down(at, e, q.strict)
	}
}

// freshIn finds the sub-queue of a waiting job without started tasks in a queue.
func (w *queues) freshIn(queue int32, id int64) (at subRef, found bool) {
	for i := range w.all[queue].subs() {
		if _, _, found := w.all[queue].sub(i).fresh.find(id); found {
			return subRef{queue, int32(i)}, true
		}
	}
	return at, false
}

// firstByRank returns the ready sub-queue of a leaf pool whose first job has the highest priority.
func (w *queues) firstByRank(leaf int32) (subRef, head) {
	n := w.tree.pools[leaf].queue
	q := &w.all[n]
	at, best, first := int32(-1), head{}, nowhere
	for i := range q.subs() {
		sub := q.sub(i)
		if !sub.ready() {
			continue
		}
		h := w.oldest(q, sub)
		if p := w.precedence.placeOf(sub, h.since, h.id); at < 0 || p.before(first) {
			at, best, first = int32(i), h, p
		}
	}
	return subRef{n, at}, best
}
