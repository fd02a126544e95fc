package sched

import "github.com/fairlead/fairlead/cluster"

// compareJobs compares the counts of jobs and sub-queues with the jobs and sub-queues themselves.
func (a *recounter) compareJobs() {
	s := a.s
	waiting, refs := map[subRef]int64{}, map[subRef]int32{}
	for i := range s.queues.begun {
		j := &s.queues.begun[i]
		if b, known := s.queues.begunOf[j.id]; !known || int(b) != i {
			continue
		}
		waiting[j.at] += int64(j.waiting)
		refs[j.at]++
		a.equal(s.queues.all[j.at.queue].pool, "running tasks of a job", int64(j.running), int64(a.begun[i]))
	}
	readySubs := make([]int32, s.site.cluster.Keys())
	for i := range s.queues.all {
		q, ready := &s.queues.all[i], int32(0)
		for k := range q.subs() {
			sub, at := q.sub(k), subRef{int32(i), int32(k)}
			a.equal(q.pool, "tasks of a sub-queue", sub.tasks, waiting[at]+sub.fresh.tasks())
			a.equal(q.pool, "jobs of a sub-queue that have begun", int64(sub.refs), int64(refs[at]))
			if sub.ready() {
				ready++
				readySubs[sub.key]++
			}
		}
		a.equal(q.pool, "sub-queues that are ready", int64(q.ready), int64(ready))
	}
	for key, n := range s.queues.readyKeys.n {
		a.equal(int32(Root), "sub-queues that are ready, by request", int64(n), int64(readySubs[key]))
	}
	a.compareLater()
}

// tasks is the number of waiting tasks of the jobs.
func (f *fifo) tasks() (n int64) {
	for i := range f.chunks() {
		for _, e := range f.chunk(i).entries[f.start(i):] {
			n += int64(e.tasks)
		}
	}
	return n
}

// compareLater does the same for jobs whose begin time has not come.
func (a *recounter) compareLater() {
	l, kept, counted := &a.s.intake.later, 0, 0
	for _, j := range l.jobs {
		kept += j.tasks
	}
	for _, e := range l.heap {
		if l.valid(e) {
			counted += e.job.Tasks
		}
	}
	a.equal(int32(Root), "tasks that may not begin yet", int64(kept), int64(counted))
}

// compareLimits compares the used amounts of maxima and minima, and the number of sub-queues that ask for minima.
func (a *recounter) compareLimits() {
	s := a.s
	used, wants := make([]cluster.Vector, len(s.tree.limited)), make([][]int32, len(s.tree.limited))
	for i := range s.tree.limited {
		used[i], wants[i] = make(cluster.Vector, len(s.tree.limited[i].used)), make([]int32, len(s.tree.limited[i].wants))
	}
	for i := range s.running.runs {
		if r := &s.running.runs[i]; r.used {
			for id := r.pool; id >= 0; id = s.tree.pools[id].parent {
				if at := s.tree.pools[id].limit; at >= 0 {
					used[at] = plus(used[at], s.site.cluster.Request(r.key), 1)
				}
			}
		}
	}
	for i := range s.queues.all {
		q := &s.queues.all[i]
		for k := range q.subs() {
			if sub := q.sub(k); sub.ready() {
				a.askedOf(wants, q.pool, s.site.cluster.Request(sub.key))
			}
		}
	}
	for i := range s.tree.pools {
		at := s.tree.pools[i].limit
		if at < 0 {
			continue
		}
		l := &s.tree.limited[at]
		for r := range used[at] {
			a.equal(int32(i), "in use of "+s.site.cluster.Resource(r), at64(l.used, r), used[at][r])
		}
		for r := 1; s.tree.apart && r < len(wants[at]); r++ {
			a.equal(int32(i), "sub-queues that ask for a minimum of "+s.site.cluster.Resource(r), int64(l.wants[r]),
				int64(wants[at][r]))
		}
	}
}

// askedOf counts a ready sub-queue for the minima above it.
func (a *recounter) askedOf(wants [][]int32, id int32, request cluster.Vector) {
	for ; id >= 0; id = a.s.tree.pools[id].parent {
		if at := a.s.tree.pools[id].limit; at >= 0 {
			for r := 1; r < min(len(wants[at]), len(request)); r++ {
				if request[r] > 0 {
					wants[at][r]++
				}
			}
		}
	}
}

// plus adds a request a number of times.
func plus(v, request cluster.Vector, times int64) cluster.Vector {
	for len(v) < len(request) {
		v = append(v, 0)
	}
	for r, n := range request {
		v[r] += times * n
	}
	return v
}

func at64(v []int64, i int) int64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}
