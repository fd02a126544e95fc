package sched

import "github.com/fairlead/fairlead/cluster"

// bar is the lowest pool that does not want the tasks of a line; those above it do not, either. It is -1 if
// all want them. No pool wants tasks that a gate of their own holds back: an ideal scheduler could not start
// them, either. The maximum of a pool binds this pool and those above it. The pools below compete for the
// room under the maximum: they want the tasks all the time, and their deficits go on.
func (q *queue) bar(l *line) int32 {
	switch {
	case l.gate == byMax:
		return l.full
	case l.held():
		return q.pool
	}
	return -1
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

// addWaiting counts tasks of a line in or out, up to the root.
func (w *lines) addWaiting(at lineRef, n int64) {
	w.countWaiting(at, n)
	q := &w.queues[at.queue]
	l := q.line(int(at.line))
	w.orders.need(q.pool, q.bar(l), l.key, 0, float64(n))
}

// countWaiting does it but for what pools are owed.
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

// rebar follows when a line has another bar than it had: the pools between the two want its tasks now, or
// want them no more.
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

// addWanted counts tasks as wanted by a pool and those above it, up to the bar.
func (w *lines) addWanted(id, bar int32, key cluster.Key, n int64) {
	if !w.tree.allots && !w.orders.owes {
		return
	}
	width := w.site.cluster.Width(key)
	for ; id != bar && id >= 0; id = w.tree.pools[id].parent {
		w.tree.pools[id].Wanted += float64(n) * width
	}
}

// change runs f on a line and keeps the counts of ready lines.
func (w *lines) change(at lineRef, f func(l *line)) {
	q := &w.queues[at.queue]
	l := q.line(int(at.line))
	was := l.ready()
	f(l)
	w.count(q, at.line, was)
}

// count keeps up what follows from a line that changed.
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

// take starts one task of the job at the head of a line and returns the number of
// the job in Scheduler.begun, -1 for a job of a single task.
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
