package sched

import (
	"container/heap"
	"time"
)

// later holds the jobs whose begin time has not come, by begin time.
type later struct {
	heap   laterHeap
	jobs   map[int64]laterJob
	serial uint64
}

func (l *later) add(j Job) {
	if l.jobs == nil {
		l.jobs = map[int64]laterJob{}
	}
	state, known := l.jobs[j.ID]
	if !known {
		l.serial++
		state.since = l.serial
	}
	state.tasks += j.Tasks
	l.jobs[j.ID] = state
	l.serial++
	heap.Push(&l.heap, laterEntry{j, l.serial})
}

// laterJob distinguishes valid entries of a job from withdrawn ones, which are dropped when their time comes.
type laterJob struct {
	tasks int
	since uint64
}

type laterEntry struct {
	job    Job
	serial uint64
}

type laterHeap []laterEntry

func (h laterHeap) Len() int { return len(h) }

func (h laterHeap) Less(i, j int) bool {
	if !h[i].job.Begin.Equal(h[j].job.Begin) {
		return h[i].job.Begin.Before(h[j].job.Begin)
	}
	return h[i].job.ID < h[j].job.ID
}

func (h laterHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *laterHeap) Push(x any) { *h = append(*h, x.(laterEntry)) }

func (h *laterHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

// withdraw removes all tasks of the job and returns their number.
func (l *later) withdraw(id int64) int {
	n := l.jobs[id].tasks
	delete(l.jobs, id)
	l.drop()
	return n
}

// drop removes withdrawn entries from the front.
func (l *later) drop() {
	for len(l.heap) > 0 && !l.valid(l.heap[0]) {
		heap.Pop(&l.heap)
	}
}

func (l *later) valid(e laterEntry) bool {
	state, known := l.jobs[e.job.ID]
	return known && e.serial >= state.since
}

// next is the earliest begin time, zero if there is none.
func (l *later) next() time.Time {
	if len(l.heap) == 0 {
		return time.Time{}
	}
	return l.heap[0].job.Begin
}

// due removes and returns a job whose begin time has come.
func (l *later) due(now time.Time) (Job, bool) {
	if len(l.heap) == 0 || l.heap[0].job.Begin.After(now) {
		return Job{}, false
	}
	j := heap.Pop(&l.heap).(laterEntry).job
	state := l.jobs[j.ID]
	if state.tasks -= j.Tasks; state.tasks == 0 {
		delete(l.jobs, j.ID)
	} else {
		l.jobs[j.ID] = state
	}
	l.drop()
	return j, true
}

// take removes one task of a job, if there is one: the task with the earliest begin time.
func (l *later) take(id int64) {
	state, first := l.jobs[id], -1
	if state.tasks < 2 {
		l.withdraw(id)
		return
	}
	for i, e := range l.heap {
		if e.job.ID == id && l.valid(e) && (first < 0 || l.heap.Less(i, first)) {
			first = i
		}
	}
	state.tasks--
	l.jobs[id] = state
	if l.heap[first].job.Tasks--; l.heap[first].job.Tasks == 0 {
		heap.Remove(&l.heap, first)
	}
}
