package sched

func (w *lines) countWanted() {
	for i := range w.queues {
		q := &w.queues[i]
		for k := range q.lines() {
			if l := q.line(k); !l.held() {
				for id := q.pool; id >= 0; id = w.tree.pools[id].parent {
					w.tree.pools[id].Wanted += float64(l.tasks) * w.site.cluster.Width(l.key)
				}
			}
		}
	}
}

// addWaiting counts tasks of a line in or out, up to the root.
func (w *lines) addWaiting(at lineRef, n int64) {
	w.countWaiting(at, n)
	if l := w.line(at); !l.held() {
		w.orders.need(w.queues[at.queue].pool, l.key, 0, float64(n))
	}
}

// countWaiting does it but for what pools are owed.
func (w *lines) countWaiting(at lineRef, n int64) {
	l := w.line(at)
	l.tasks += n
	for id := w.queues[at.queue].pool; id >= 0; id = w.tree.pools[id].parent {
		w.tree.pools[id].Waiting += n
		w.tree.changed(id)
	}
	if !l.held() {
		w.addWanted(at, n)
	}
}

// want counts tasks that wait and could start, up to the root.
func (w *lines) want(at lineRef, n int64) {
	w.addWanted(at, n)
	w.orders.need(w.queues[at.queue].pool, w.line(at).key, 0, float64(n))
}

func (w *lines) addWanted(at lineRef, n int64) {
	if !w.tree.allots && !w.orders.owes {
		return
	}
	width := w.site.cluster.Width(w.line(at).key)
	for id := w.queues[at.queue].pool; id >= 0; id = w.tree.pools[id].parent {
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
