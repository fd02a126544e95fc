package sim

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// The fair start of a job is the start that it would have if no job came after it and the present users
// shared the machine from its submission on. At its submission, take the running jobs with their real
// remaining times, and start the waiting jobs one by one, without backfilling. The next pool, and in it the
// next user, is the one with the least running work per weight, including jobs that this list has started.
// The jobs of a user go in order of submission.
//
// Sabin, Kochhar and Sadayappan ("Job fairness in non-preemptive job scheduling", ICPP 2004) start the
// present jobs in the order of the measured policy. By that measure a strict order of arrival is perfectly
// fair, even if one user floods the queue. Leung, Sabin and Sadayappan ("Parallel job scheduling policies to
// improve fairness: a case study", Sandia 2008) use one order for every policy. Their order includes the
// decayed past usage, and ours does not.
//
// For a user with many jobs only fairStartJobs jobs are evaluated, evenly spread, because one evaluation
// costs a pass through all jobs before it.
const fairStartJobs = 64

// fairStarts replays a schedule from submission to submission.
type fairStarts struct {
	w       *Workload
	a       *account
	starts  []stretch // all runs, in order of their starts
	running []stretch // at this moment, in order of their ends
	waiting [][]int32 // jobs by claim, in order of submission
	active  [][]int32 // by node of the tree: the nodes directly below it in which a job waits
	list    listing
}

// stretch is a run of a job.
type stretch struct {
	from, to int64
	job      int32
	again    bool // the run was stopped, and the job waits again
}

// sampled marks the jobs whose fair start is computed.
func sampled(w *Workload) []bool {
	total, met := make([]int, len(w.Users)), make([]int, len(w.Users))
	for i := range w.Jobs {
		total[w.Jobs[i].User]++
	}
	marks := make([]bool, len(w.Jobs))
	for i := range w.Jobs {
		u := w.Jobs[i].User
		n, k := total[u], met[u]
		met[u]++
		marks[i] = n <= fairStartJobs || k*fairStartJobs/n != (k+1)*fairStartJobs/n
	}
	return marks
}

// fairStart calls yield with the fair start of each sampled job.
func (r *Result) fairStart(a *account, yield func(job int, start int64)) {
	f := &fairStarts{w: r.Workload, a: a, waiting: make([][]int32, len(a.claims)),
		active: make([][]int32, len(a.tree.nodes))}
	f.list.begin(a.tree)
	for i := range r.Workload.Jobs {
		if r.Schedule.Started(i) {
			f.starts = append(f.starts, stretch{r.Schedule.Start[i], r.End(i), int32(i), false})
		}
	}
	for _, x := range r.Schedule.Lost {
		f.starts = append(f.starts, stretch{x.Start, x.End, x.Job, true})
	}
	slices.SortFunc(f.starts, func(x, y stretch) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.job, y.job), cmp.Compare(x.to, y.to))
	})
	marks := sampled(r.Workload)
	jobs := r.Workload.Jobs
	for from, to := 0, 0; from < len(jobs); from = to { // all jobs of a second arrive together
		now := jobs[from].Submit
		f.until(now)
		for ; to < len(jobs) && jobs[to].Submit == now; to++ {
			if a.feasible(to) {
				f.wait(int32(to))
			}
		}
		for i := from; i < to; i++ {
			if marks[i] && a.feasible(i) {
				yield(i, f.of(int32(i), now))
			}
		}
	}
}

// until replays everything that happens before the jobs of a second are submitted: all ends up to then, and
// all earlier starts.
func (f *fairStarts) until(now int64) {
	for {
		next := int64(math.MaxInt64)
		if len(f.starts) > 0 {
			next = f.starts[0].from
		}
		switch {
		case len(f.running) > 0 && f.running[0].to <= min(now, next):
			x := f.running[0]
			f.running = f.running[1:]
			if x.again {
				f.wait(x.job)
			}
		case next < now:
			x := f.starts[0]
			f.starts = f.starts[1:]
			f.leave(x.job)
			i, _ := slices.BinarySearchFunc(f.running, x, func(a, b stretch) int { return cmp.Compare(a.to, b.to) })
			f.running = slices.Insert(f.running, i, x)
		default:
			return
		}
	}
}

// wait inserts a job into the waiting jobs of its claim.
func (f *fairStarts) wait(job int32) {
	n := f.a.claimOf[job]
	if len(f.waiting[n]) == 0 {
		f.turn(f.a.tree.leaf[n], true)
	}
	i, _ := slices.BinarySearch(f.waiting[n], job)
	f.waiting[n] = slices.Insert(f.waiting[n], i, job)
}

func (f *fairStarts) leave(job int32) {
	n := f.a.claimOf[job]
	if i, waits := slices.BinarySearch(f.waiting[n], job); waits {
		f.waiting[n] = slices.Delete(f.waiting[n], i, i+1)
		if len(f.waiting[n]) == 0 {
			f.turn(f.a.tree.leaf[n], false)
		}
	}
}

// turn records whether jobs wait in a node of the tree.
func (f *fairStarts) turn(id int32, waits bool) {
	for up := f.a.tree.nodes[id].parent; up >= 0; id, up = up, f.a.tree.nodes[up].parent {
		was := len(f.active[up])
		if waits {
			f.active[up] = append(f.active[up], id)
		} else {
			i := slices.Index(f.active[up], id)
			f.active[up] = slices.Delete(f.active[up], i, i+1)
		}
		if was > 0 && len(f.active[up]) > 0 {
			return
		}
	}
}

// of returns the fair start of a job that is submitted now.
func (f *fairStarts) of(job int32, now int64) int64 {
	l := &f.list
	l.reset(now, int64(f.w.Procs))
	for i := range f.running {
		x := &f.running[i]
		procs := int64(f.w.Jobs[x.job].Procs)
		l.free -= procs
		l.give(f.a.tree.leaf[f.a.claimOf[x.job]], float64(x.to-now)*float64(procs))
	}
	running := f.running
	for {
		n := l.next(f.active)
		queue := f.waiting[n]
		k := queue[l.taken[n]]
		l.taken[n]++
		if int(l.taken[n]) == len(queue) {
			l.exhaust(f.a.tree.leaf[n], f.active)
		}
		j := &f.w.Jobs[k]
		procs := int64(j.Procs)
		for l.free < procs {
			if len(running) > 0 && (len(l.ends) == 0 || running[0].to <= l.ends[0].at) {
				l.now = max(l.now, running[0].to)
				l.free += int64(f.w.Jobs[running[0].job].Procs)
				running = running[1:]
				continue
			}
			e := heap.Pop(&l.ends).(listEnd)
			l.now, l.free = max(l.now, e.at), l.free+e.procs
		}
		if k == job {
			return l.now
		}
		l.free -= procs
		heap.Push(&l.ends, listEnd{l.now + j.Run, procs})
		l.give(f.a.tree.leaf[n], float64(j.Run)*float64(procs))
	}
}
