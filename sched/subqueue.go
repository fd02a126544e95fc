package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// queue holds the waiting jobs of a leaf pool, in one sub-queue per request: a job that fits nowhere then delays only
// jobs with the same request. Jobs of different classes also have separate sub-queues, so that a sub-queue is always in
// order of submission, even if jobs have priorities of their own. A leaf pool visits its sub-queues at each choice, so
// the cost depends on the number of different requests and classes that wait at the same time.
type queue struct {
	pool   int32
	first  subQueue   // stored inline, because most leaf pools have no other
	more   []subQueue // the others
	ready  int32      // number of sub-queues with work and no closed gate
	strict bool       // the leaf pool's policy reads the order of arrival only
	ranked bool       // jobs go by their own priorities
	mixed  bool       // jobs of several priorities wait in it, see queues.mixed
	max    int32      // the pools' limit on simultaneous tasks of one job; 0 is no limit
	heads  *heads     // the order of its sub-queues if they are many, else nil
}

// ordered reports whether the queue keeps its sub-queues in order.
func (q *queue) ordered() bool { return q.heads != nil }

func (q *queue) subs() int { return 1 + len(q.more) }

func (q *queue) sub(i int) *subQueue {
	if i == 0 {
		return &q.first
	}
	return &q.more[i-1]
}

// ask is the common request of the jobs of a sub-queue.
type ask struct {
	key   cluster.Key
	class Class
	limit time.Duration // of each task; 0 is none
	alike uint32        // see [Job.Alike]; 0 with a limit

	// priority differs between the sub-queues of a leaf pool only if the leaf pool holds jobs of several priorities, see
	// queues.mixed.
	priority int8
}

// subQueue holds jobs with the same request. Jobs without running tasks are in fresh. Jobs that have begun and have
// tasks left are in begun. The job with the fewest running tasks goes first; of equal ones, the job that has waited
// longest for its turn. So the jobs of a pool share its room task by task ("round robin" in the README of Twitter's
// Scoot).
type subQueue struct {
	ask
	gate  gate
	full  int32 // the pool with the closed gate; -1 if it is not the gate of a pool
	refs  int32 // begun jobs that belong here, with or without waiting tasks
	tasks int64 // waiting tasks
	fresh fifo
	begun []int32 // heap of indices into queues.begun
}

// held reports whether a gate other than lack of room holds the sub-queue back.
func (sub *subQueue) held() bool { return sub.gate != noGate && sub.gate != byFit }

func (sub *subQueue) ready() bool {
	return sub.gate == noGate && (sub.fresh.jobs > 0 || len(sub.begun) > 0)
}

// spare reports whether the sub-queue is unused, so that another request may take it.
func (sub *subQueue) spare() bool { return sub.tasks == 0 && sub.refs == 0 && sub.gate == noGate }

// hopes reports whether only lack of room, or the maximum of a pool, may hold back the jobs of a sub-queue.
func (sub *subQueue) hopes() bool {
	return sub.gate.hopes() && (sub.fresh.jobs > 0 || len(sub.begun) > 0)
}

// begun is a job with several tasks, one or more of them started.
type begun struct {
	id      int64
	since   time.Duration // submission, from agesFrom
	waiting int32
	running int32
	own     int32 // the job's own limit on simultaneous tasks; 0 is none
	max     int32 // the tighter of its own limit and that of its pools
	gang    int32 // tasks that start at the same moment; 0: each by itself
	slot    int32 // index in the heap of its sub-queue; -1: not in it
	at      subRef
	turn    time.Duration // when a task last started or ended, from agesFrom; else the submission
}

// starts records that a task of the job starts at an instant.
func (b *begun) starts(at time.Duration) {
	b.running++
	b.turn = max(b.turn, at)
}

// ends records that a task of the job ends at an instant. Jobs that waited in the meantime then go before it, because,
// of two jobs without running tasks, the job that ran last goes last.
func (b *begun) ends(at time.Duration) {
	b.running--
	b.turn = max(b.turn, at)
}

// head is the job as the head of its sub-queue.
func (b *begun) head(i int32) head { return head{b.id, b.since, b.running, i, b.turn} }

// head is the job as the head of its sub-queue; its turn is its submission.
func (e entry) head() head { return head{e.id, e.since, 0, -1, e.since} }

// capped reports whether no task of the job may start now, because enough tasks run or, for a gang, because not all
// of its tasks wait.
func (b *begun) capped() bool {
	return b.waiting < b.gang || b.gang == 0 && b.max > 0 && b.running >= b.max
}

// startable is the number of waiting tasks of a job that may start beside its running tasks.
func startable(waiting, running, most int32) int32 {
	if most == 0 {
		return waiting
	}
	return max(0, min(waiting, most-running))
}

// begunHeap orders the begun jobs of a sub-queue.
type begunHeap struct {
	begun  []begun
	l      *subQueue
	strict bool
}

func (h begunHeap) Len() int { return len(h.l.begun) }

func (h begunHeap) Less(i, j int) bool {
	a, b := h.l.begun[i], h.l.begun[j]
	return h.begun[a].head(a).before(h.begun[b].head(b), h.strict)
}

func (h begunHeap) Swap(i, j int) {
	b := h.l.begun
	b[i], b[j] = b[j], b[i]
	h.begun[b[i]].slot, h.begun[b[j]].slot = int32(i), int32(j)
}

func (h begunHeap) Push(x any) {
	h.begun[x.(int32)].slot = int32(len(h.l.begun))
	h.l.begun = append(h.l.begun, x.(int32))
}

func (h begunHeap) Pop() any {
	last := len(h.l.begun) - 1
	b := h.l.begun[last]
	h.begun[b].slot = -1
	h.l.begun = h.l.begun[:last]
	return b
}

// tighter is the smaller of two limits; 0 is no limit.
func tighter(a, b int32) int32 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
