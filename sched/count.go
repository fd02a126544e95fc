package sched

import "github.com/fairlead/fairlead/cluster"

// bar is the lowest pool that does not want the tasks of a line; the pools above it do not, either. It is -1 if all
// pools want them. No pool wants tasks that their own gate holds back: an ideal scheduler could not start them,
// either. A gate of a pool, such as its maximum, limits this pool and the pools above it. The pools below compete for the room
// that it leaves: they always want the tasks, and their deficits continue to grow.
func (q *queue) bar(l *line) int32 {
	switch {
	case !l.held():
		return -1
	case l.full >= 0:
		return l.full
	}
	return q.pool
}

func (w *lines) countWanted() {
	for i := range w.queues {
		q := &w.queues[i]
		for k := range q.lines() {
			l := q.line(k)
			for id, bar := q.pool, q.bar(l); id != bar && id >= 0; id = w.tree.pools[id].parent {
				w.tree.pools[id].Wanted += float64(l.tasks) * w.site.cluster.Width(l.key)
			}
		}
	}
}

// addWaiting adds n waiting tasks to a line and to its pools, up to the root; n may be negative.
func (w *lines) addWaiting(at lineRef, n int64) {
	w.countWaiting(at, n)
	q := &w.queues[at.queue]
	l := q.line(int(at.line))
	w.orders.need(q.pool, q.bar(l), l.key, 0, float64(n))
}

// countWaiting is addWaiting without the claims.
func (w *lines) countWaiting(at lineRef, n int64) {
	q := &w.queues[at.queue]
	l := q.line(int(at.line))
	l.tasks += n
	for id := q.pool; id >= 0; id = w.tree.pools[id].parent {
		w.tree.pools[id].Waiting += n
		w.tree.changed(id)
	}
	w.addWanted(q.pool, q.bar(l), l.key, n)
}

// rebar updates the pools between the old bar of a line, was, and the new one: they now want its tasks, or no
// longer want them.
func (w *lines) rebar(at lineRef, was int32) {
	q := &w.queues[at.queue]
	l := q.line(int(at.line))
	is, from := q.bar(l), q.pool
	for from != was && from != is {
		from = w.tree.pools[from].parent
	}
	to, n := is, l.tasks
	if from == is {
		to, n = was, -n
	}
	w.addWanted(from, to, l.key, n)
	w.orders.need(from, to, l.key, 0, float64(n))
}

// addWanted counts tasks as wanted by a pool and the pools above it, up to the bar.
func (w *lines) addWanted(id, bar int32, key cluster.Key, n int64) {
	if !w.tree.allots && !w.orders.owes {
		return
	}
	width := w.site.cluster.Width(key)
	for ; id != bar && id >= 0; id = w.tree.pools[id].parent {
		w.tree.pools[id].Wanted += float64(n) * width
	}
}

// change applies f to a line and updates the counts of ready lines.
func (w *lines) change(at lineRef, f func(l *line)) {
	q := &w.queues[at.queue]
	l := q.line(int(at.line))
	was := l.ready()
	f(l)
	w.count(q, at.line, was)
}

// count updates the data that depends on a changed line.
func (w *lines) count(q *queue, i int32, was bool) {
	l := q.line(int(i))
	w.orderLine(q, i)
	if is := l.ready(); is && !was {
		q.ready++
		w.readyKeys.add(l.key, 1)
		w.orders.readied(q.pool, l.key, 1)
		w.tree.wanted(q.pool, l.key, 1)
	} else if was && !is {
		q.ready--
		w.readyKeys.add(l.key, -1)
		w.orders.readied(q.pool, l.key, -1)
		w.tree.wanted(q.pool, l.key, -1)
	}
}

// take starts one task of the job at the head of a line, and returns the job's index in lines.begun; -1 for a job
// of a single task.
func (w *lines) take(at lineRef, h head) int32 {
	q := &w.queues[at.queue]
	l := q.line(int(at.line))
	was := l.ready()
	b := h.begun
	if b < 0 {
		e := l.fresh.take(h.id, w.site.epoch)
		if e.tasks == 1 && tighter(e.max, q.max) == 0 {
			w.count(q, at.line, was)
			return -1
		}
		b = w.begin(e, at)
	}
	j := &w.begun[b]
	j.waiting--
	j.starts(since(w.site.at))
	w.reheap(b)
	w.count(q, at.line, was)
	return b
}
