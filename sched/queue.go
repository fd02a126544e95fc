package sched

import (
	"container/heap"
	"math"

	"github.com/fairlead/fairlead/cluster"
)

// lines are the jobs that wait, in a line for each kind of request in each leaf.
type lines struct {
	site       *site
	tree       *tree
	precedence *precedence
	orders     *orders

	queues    []queue
	begun     []begun
	begunOf   map[int64]int32
	begunFree freeList
	readyKeys keyCounts // lines with work that no gate holds back
}

// few lines are looked through faster than they are ordered.
const few = 3

func (w *lines) heapOf(at lineRef) begunHeap {
	q := &w.queues[at.queue]
	return begunHeap{w.begun, q.line(int(at.line)), q.strict}
}

func (w *lines) line(at lineRef) *line { return w.queues[at.queue].line(int(at.line)) }

// byResource reports whether it matters for the place of a pool which resources its tasks
// ask for.
func (ord *orders) byResource() bool {
	return ord.tree.apart || ord.owes && len(ord.dominants.resources) > 1
}

// wanted counts a line that became ready, or is no more, for the minima on its way: a
// pool without tasks for what it is guaranteed must not go first with others.
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

// lacking is the nearest limit on the way up from a leaf of whose minimum something is
// missing that only some tasks ask for; nil if there is none.
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

func (w *lines) head(l *line, strict bool) head {
	h := head{id: math.MaxInt64, running: math.MaxInt32, begun: -1}
	if l.fresh.jobs > 0 {
		h = l.fresh.front().head()
	}
	if len(l.begun) > 0 {
		b := l.begun[0]
		if other := w.begun[b].head(b); other.before(h, strict) {
			h = other
		}
	}
	return h
}

// oldest is the first job of a line in order of submission. Where the leaf serves those
// with the fewest running tasks first, it is looked for among all that have begun.
func (w *lines) oldest(q *queue, l *line) head {
	h := w.head(l, true)
	if q.strict {
		return h
	}
	for _, i := range l.begun {
		if b := &w.begun[i]; b.id < h.id {
			h = b.head(i)
		}
	}
	return h
}

// next returns the ready line of a leaf whose job goes first.
func (w *lines) next(leaf int32) (lineRef, head) {
	n := w.tree.pools[leaf].queue
	q := &w.queues[n]
	if q.ranked {
		return w.firstByRank(leaf)
	}
	lacks, bestHelps := w.tree.lacking(leaf), false
	if q.ordered() && lacks == nil {
		first := q.heads.heap[0]
		return lineRef{n, first.line}, first.head
	}
	best, at := head{id: math.MaxInt64, running: math.MaxInt32}, int32(-1)
	for i := range q.lines() {
		l := q.line(i)
		if !l.ready() {
			continue
		}
		helps := lacks != nil && lacks.helped(w.site.cluster.Request(l.key))
		if h := w.head(l, q.strict); at < 0 || helps && !bestHelps || helps == bestHelps && h.before(best, q.strict) {
			best, at, bestHelps = h, int32(i), helps
		}
	}
	return lineRef{n, at}, best
}

// firstArrival is the arrival of the oldest job in a leaf that may start.
func (w *lines) firstArrival(p *Pool) float64 {
	first, q, priority := math.Inf(1), &w.queues[p.queue], w.priorityOf(p)
	if q.ordered() && q.strict {
		if q.ready > 0 {
			first = arrival(priority, q.heads.heap[0].id)
		}
		return first
	}
	for i := range q.lines() {
		if l := q.line(i); l.ready() {
			first = min(first, arrival(priority, w.oldest(q, l).id))
		}
	}
	return first
}

// begin makes a begun job of an entry.
func (w *lines) begin(e entry, at lineRef) int32 {
	b := w.begunFree.take(len(w.begun))
	if int(b) == len(w.begun) {
		w.begun = append(w.begun, begun{})
	}
	w.begun[b] = begun{id: e.id, since: e.since, turn: e.since, waiting: e.tasks, own: e.max, slot: -1, at: at,
		gang: w.site.gangOf(w.line(at).key)}
	w.begun[b].max = tighter(e.max, w.queues[at.queue].max)
	w.begunOf[e.id] = b
	w.line(at).refs++
	return b
}

// reheap puts a begun job where it belongs: into the heap of its line in the right
// place, or out of it when it has nothing to start.
func (w *lines) reheap(b int32) {
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

// release forgets a begun job that is over.
func (w *lines) release(b int32) {
	if j := &w.begun[b]; j.waiting == 0 && j.running == 0 {
		delete(w.begunOf, j.id)
		w.line(j.at).refs--
		w.begunFree = append(w.begunFree, b)
	}
}

// heldAlike is the gate that holds other jobs of a leaf back which ask for the same as those
// of a line in one of its priority classes, if it holds all that waits in the leaf. Such a leaf was not
// away: it comes in where it stood, whatever the priority of the job that came.
func (w *lines) heldAlike(id int32, at lineRef) gate {
	if w.tree.labels[id].kind != priorityClass || w.tree.pools[w.tree.pools[id].parent].seat.in {
		return noGate
	}
	key := w.line(at).key
	for _, kid := range w.tree.inners[w.tree.pools[w.tree.pools[id].parent].inner].kids {
		n := w.tree.pools[kid].queue
		if n < 0 {
			continue
		}
		for i := range w.queues[n].lines() {
			if l := w.queues[n].line(i); l.key == key && l.tasks > 0 && l.gate != noGate {
				return l.gate
			}
		}
	}
	return noGate
}

// priorityOf is the priority as which a leaf counts where jobs go in order of it: that of its
// jobs or, where each has a priority of its own, the middle one, whatever these are.
func (w *lines) priorityOf(leaf *Pool) int {
	if w.queues[leaf.queue].mixed {
		return len(w.site.cfg.Priorities) / 2
	}
	return int(max(0, leaf.priority))
}

// tasksOf is how many tasks of a job wait in a line and may start.
func (w *lines) tasksOf(job int64, at lineRef) int32 {
	l := w.line(at)
	if l.gate != noGate {
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
	ci, i, found := l.fresh.find(job)
	if !found {
		return 0
	}
	e := l.fresh.chunk(ci).entries[i]
	return startable(e.tasks, 0, tighter(e.max, w.queues[at.queue].max))
}

// startsOf is tasksOf, where a gang counts once.
func (w *lines) startsOf(job int64, at lineRef) int32 {
	n := w.tasksOf(job, at)
	if w.site.gangOf(w.line(at).key) > 0 {
		n = min(n, 1)
	}
	return n
}

func (w *lines) arrivalOf(at lineRef, job int64) float64 {
	return arrival(w.priorityOf(&w.tree.pools[w.queues[at.queue].pool]), job)
}

// mixed reports whether jobs of all priorities stand in one leaf: where each job has a
// priority of its own, to which the name of its priority contributes as its quality of
// service. A leaf stays mixed until the jobs that came so have gone.
func (w *lines) mixed(id int32) bool {
	q := w.tree.pools[id].queue
	if w.precedence.ranks != nil && w.tree.ranked(id) {
		if q >= 0 {
			w.queues[q].mixed = true
		}
		return true
	}
	if q >= 0 && w.queues[q].mixed && w.tree.pools[id].Waiting == 0 {
		w.queues[q].mixed = false
	}
	return q >= 0 && w.queues[q].mixed
}

// orderLines begins to keep the order, when lines become many.
func (w *lines) orderLines(q *queue) {
	q.heads = &heads{pos: make([]int32, q.lines())}
	for i := range q.heads.pos {
		q.heads.pos[i] = -1
	}
	for i := range q.lines() {
		w.orderLine(q, int32(i))
	}
}

// orderLine brings the place of a line up to date.
func (w *lines) orderLine(q *queue, i int32) {
	if !q.ordered() {
		return
	}
	h := q.heads
	l := q.line(int(i))
	at := h.pos[i]
	if !l.ready() {
		if at >= 0 {
			h.remove(at, q.strict)
		}
		return
	}
	e := lineHead{w.head(l, q.strict), i}
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

// freshIn finds the line of a waiting job in a queue if none of its tasks has started.
func (w *lines) freshIn(queue int32, id int64) (at lineRef, found bool) {
	for i := range w.queues[queue].lines() {
		if _, _, found := w.queues[queue].line(i).fresh.find(id); found {
			return lineRef{queue, int32(i)}, true
		}
	}
	return at, false
}

// firstByRank is the line of a leaf whose first job has the highest priority, of those
// that are ready.
func (w *lines) firstByRank(leaf int32) (lineRef, head) {
	n := w.tree.pools[leaf].queue
	q := &w.queues[n]
	at, best, first := int32(-1), head{}, nowhere
	for i := range q.lines() {
		l := q.line(i)
		if !l.ready() {
			continue
		}
		h := w.oldest(q, l)
		if p := w.precedence.placeOf(l, h.since, h.id); at < 0 || p.before(first) {
			at, best, first = int32(i), h, p
		}
	}
	return lineRef{n, at}, best
}
