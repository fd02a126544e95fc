package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// queue holds the waiting jobs of a leaf, in a line for each key of request: a
// job that fits nowhere then holds up only jobs that ask for the same. Jobs of
// different classes stand in lines of their own, too: the order of a line is then that of
// submission whether or not there are priorities. A leaf looks through its lines at each
// choice, so what costs is how many different requests and classes wait in it at once.
type queue struct {
	pool   int32
	first  line   // in place, because for most leaves it is the only one
	more   []line // the others
	ready  int32  // lines with work that no gate holds back
	strict bool   // the leaf's policy reads the order of arrival and nothing else
	ranked bool   // it goes by the priority of each job
	mixed  bool   // jobs of several priorities wait in it, see lines.mixed
	max    int32  // tasks of one job at once, by the pools above; 0 is no limit
	heads  *heads // the order of many lines, nil for few
}

// ordered reports whether the queue keeps its lines in order.
func (q *queue) ordered() bool { return q.heads != nil }

func (q *queue) lines() int { return 1 + len(q.more) }

func (q *queue) line(i int) *line {
	if i == 0 {
		return &q.first
	}
	return &q.more[i-1]
}

// ask is what the jobs of a line have in common.
type ask struct {
	key   cluster.Key
	class Class
	limit time.Duration // of each task; 0 is none
	alike uint32        // see [Job.Alike]; 0 with a limit
}

// line holds jobs that ask for the same. Jobs none of whose tasks runs are in
// fresh; jobs that have begun and have tasks left are in begun, fewest running first, and of
// those alike the one whose turn it is longest, so that jobs of a pool share its room task by task ("round
// robin" in the README of Twitter's Scoot).
type line struct {
	ask
	gate  gate
	full  int32 // the pool whose maximum holds the line back, if the gate is byMax
	refs  int32 // jobs that have begun and belong here, whether or not tasks of them wait
	tasks int64 // that wait
	fresh fifo
	begun []int32 // heap of numbers of jobs in Scheduler.begun
}

// held reports whether a gate other than the want of room holds the line back.
func (l *line) held() bool { return l.gate != noGate && l.gate != byFit }

func (l *line) ready() bool {
	return l.gate == noGate && (l.fresh.jobs > 0 || len(l.begun) > 0)
}

// spare reports whether nothing refers to the line, so that others may have it.
func (l *line) spare() bool { return l.tasks == 0 && l.refs == 0 && l.gate == noGate }

// hopes reports whether only the lack of room, or the maximum of a pool, may hold back the jobs of a line.
func (l *line) hopes() bool {
	return (l.gate == noGate || l.gate == byFit || l.gate == byMax) && (l.fresh.jobs > 0 || len(l.begun) > 0)
}

// begun is a job with several tasks, at least one of them started.
type begun struct {
	id      int64
	since   time.Duration // submission, from agesFrom
	waiting int32
	running int32
	own     int32 // limit of the job itself to its tasks at once; 0 is none
	max     int32 // the tighter of its own and its pools' limit
	gang    int32 // tasks that start all at once; 0: each for itself
	slot    int32 // in the heap of its line; -1: not in it
	at      lineRef
	turn    time.Duration // when a task of it started or ended last, from agesFrom; submission, if none has
}

// starts notes that a task of the job starts at an instant.
func (b *begun) starts(at time.Duration) {
	b.running++
	b.turn = max(b.turn, at)
}

// ends notes that a task of the job ends at an instant. The jobs that waited meanwhile go before it: of two
// that have nothing the one that had something last comes last.
func (b *begun) ends(at time.Duration) {
	b.running--
	b.turn = max(b.turn, at)
}

// head is the job as the first of its line.
func (b *begun) head(i int32) head { return head{b.id, b.since, b.running, i, b.turn} }

// head is the job as the first of its line; its turn came with it.
func (e entry) head() head { return head{e.id, e.since, 0, -1, e.since} }

// capped reports whether no task of the job may start now, because of its running tasks or,
// in a gang, because not all of its tasks wait.
func (b *begun) capped() bool {
	return b.waiting < b.gang || b.gang == 0 && b.max > 0 && b.running >= b.max
}

// startable is the number of waiting tasks of a job that may run beside its running tasks.
func startable(waiting, running, most int32) int32 {
	if most == 0 {
		return waiting
	}
	return max(0, min(waiting, most-running))
}

// begunHeap orders the begun jobs of a line.
type begunHeap struct {
	begun  []begun
	l      *line
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
