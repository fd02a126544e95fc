package sched

import "github.com/fairlead/fairlead/cluster"

// bar is the lowest pool that does not want the tasks of a sub-queue; the pools above it do not want them, either. It
// is -1 if all pools want them. No pool wants tasks that their own gate holds back: an ideal scheduler could not start
// them, either. A gate of a pool, such as its maximum, limits this pool and the pools above it. The pools below compete
// for the room that it leaves: they always want the tasks, and their deficits continue to grow.
func (q *queue) bar(sub *subQueue) int32 {
	switch {
	case !sub.held():
		return -1
	case sub.full >= 0:
		return sub.full
	}
	return q.pool
}

// countWanted counts all waiting tasks as wanted; the pools want nothing before.
func (w *queues) countWanted() {
	for i := range w.all {
		q := &w.all[i]
		for k := range q.subs() {
			sub := q.sub(k)
			w.want(q.pool, q.bar(sub), sub.key, sub.tasks)
		}
	}
}

// addWaiting adds n waiting tasks to a sub-queue and to its pools, up to the root; n may be negative.
func (w *queues) addWaiting(at subRef, n int64) {
	w.countWaiting(at, n)
	q := &w.all[at.queue]
	sub := q.sub(int(at.sub))
	w.orders.need(q.pool, q.bar(sub), sub.key, 0, float64(n))
}

// countWaiting is addWaiting without the claims.
func (w *queues) countWaiting(at subRef, n int64) {
	q := &w.all[at.queue]
	sub := q.sub(int(at.sub))
	sub.tasks += n
	for id := q.pool; id >= 0; id = w.tree.pools[id].parent {
		w.tree.pools[id].Waiting += n
		w.tree.changed(id)
	}
	if w.demandCounts() { // the bar takes time to find
		w.addWanted(q.pool, q.bar(sub), sub.key, n)
	}
}

// demandCounts reports whether a policy uses the demand.
func (w *queues) demandCounts() bool { return w.tree.allots || w.orders.owes }

// rebar is called after the bar of a sub-queue has changed. The argument "was" is the old bar. It updates the pools
// between the old bar and the new one: they now want the tasks of the sub-queue, or no longer want them.
func (w *queues) rebar(at subRef, was int32) {
	q := &w.all[at.queue]
	sub := q.sub(int(at.sub))
	is, from := q.bar(sub), q.pool
	for from != was && from != is {
		from = w.tree.pools[from].parent
	}
	to, n := is, sub.tasks
	if from == is {
		to, n = was, -n
	}
	w.addWanted(from, to, sub.key, n)
	w.orders.need(from, to, sub.key, 0, float64(n))
}

// addWanted is want while a policy uses the demand.
func (w *queues) addWanted(id, bar int32, key cluster.Key, n int64) {
	if w.demandCounts() {
		w.want(id, bar, key, n)
	}
}

// want counts tasks as wanted by a pool and the pools above it, up to the bar.
func (w *queues) want(id, bar int32, key cluster.Key, n int64) {
	width := w.site.cluster.Width(key)
	for ; id != bar && id >= 0; id = w.tree.pools[id].parent {
		w.tree.pools[id].Wanted += float64(n) * width
	}
}

// change applies f to a sub-queue and updates the counts of ready sub-queues.
func (w *queues) change(at subRef, f func(sub *subQueue)) {
	q := &w.all[at.queue]
	sub := q.sub(int(at.sub))
	was := sub.ready()
	f(sub)
	w.count(q, at.sub, was)
}

// count updates the data that depends on a changed sub-queue.
func (w *queues) count(q *queue, i int32, was bool) {
	sub := q.sub(int(i))
	w.orderSub(q, i)
	if is := sub.ready(); is && !was {
		q.ready++
		w.readyKeys.add(sub.key, 1)
		w.orders.readied(q.pool, sub.key, 1)
		w.tree.wanted(q.pool, sub.key, 1)
	} else if was && !is {
		q.ready--
		w.readyKeys.add(sub.key, -1)
		w.orders.readied(q.pool, sub.key, -1)
		w.tree.wanted(q.pool, sub.key, -1)
	}
}

// take starts one task of the job at the head of a sub-queue, and returns the job's index in queues.begun, or -1 for a
// job of a single task.
func (w *queues) take(at subRef, h head) int32 {
	q := &w.all[at.queue]
	sub := q.sub(int(at.sub))
	was := sub.ready()
	b := h.begun
	if b < 0 {
		e := sub.fresh.take(h.id, w.site.epoch)
		if e.tasks == 1 && tighter(e.max, q.max) == 0 {
			w.count(q, at.sub, was)
			return -1
		}
		b = w.begin(e, at)
	}
	j := &w.begun[b]
	j.waiting--
	j.starts(since(w.site.at))
	w.reheap(b)
	w.count(q, at.sub, was)
	return b
}
