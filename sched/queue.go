package sched

import (
	"container/heap"
	"math"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// queue holds the waiting jobs of a leaf, in a line for each shape of request: a
// job that fits nowhere then holds up only those that ask for the same. Jobs of
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
	mixed  bool   // jobs of several priorities wait in it, see Scheduler.mixed
	most   int32  // tasks of one job at once, by the pools above; 0 is no limit
	heads  *heads // the order of many lines, nil for few
}

// ask is what the jobs of a line have in common.
type ask struct {
	shape cluster.Shape
	class Class
	limit time.Duration // of each task; 0 is none
}

func askOf(j *Job) ask { return ask{j.Shape, j.Class, j.Limit} }

// line holds jobs that ask for the same. Jobs none of whose tasks runs are in
// fresh; jobs that have begun and have tasks left are in begun, fewest running first,
// so that jobs of a pool share what it gets task by task (seed 2, "round robin").
type line struct {
	ask
	gate  gate
	refs  int32 // jobs that have begun and belong here, whether or not tasks of them wait
	tasks int64 // that wait
	fresh fifo
	begun []int32 // heap of numbers of jobs in Scheduler.begun
}

// gate is what a line is parked on.
type gate uint8

const (
	noGate    gate = iota
	byFit          // the request fits on no node now
	byMax          // a pool above is at its maximum for this request
	byLicense      // too few of a licence are free
	byRate         // there were as many starts as a rate allows
	byWindow       // the window that it asks for is not open
	byPause        // a pool above is paused
)

type lineRef struct{ queue, line int32 }

func (q *queue) lines() int { return 1 + len(q.more) }

func (q *queue) line(i int) *line {
	if i == 0 {
		return &q.first
	}
	return &q.more[i-1]
}

// held reports whether a gate other than the want of room holds the line back.
func (l *line) held() bool { return l.gate != noGate && l.gate != byFit }

func (l *line) ready() bool {
	return l.gate == noGate && (l.fresh.jobs > 0 || len(l.begun) > 0)
}

// begun is a job with several tasks, of which at least one started.
type begun struct {
	id      int64
	since   time.Duration // submission, from agesFrom
	waiting int32
	running int32
	own     int32 // limit of the job itself to its tasks at once; 0 is none
	most    int32 // the tighter of its own and its pools' limit
	gang    int32 // tasks that start all at once; 0: each for itself
	slot    int32 // in the heap of its line; -1: not in it
	at      lineRef
}

// capped reports whether no task of the job may start now, because of those that run, or,
// of a gang, because not all of them wait.
func (b *begun) capped() bool {
	return b.waiting < b.gang || b.gang == 0 && b.most > 0 && b.running >= b.most
}

// begunHeap orders the begun jobs of a line.
type begunHeap struct {
	s      *Scheduler
	l      *line
	strict bool
}

func (h begunHeap) Len() int { return len(h.l.begun) }
func (h begunHeap) Less(i, j int) bool {
	a, b := &h.s.begun[h.l.begun[i]], &h.s.begun[h.l.begun[j]]
	if a.running != b.running && !h.strict {
		return a.running < b.running
	}
	return a.id < b.id
}
func (h begunHeap) Swap(i, j int) {
	b := h.l.begun
	b[i], b[j] = b[j], b[i]
	h.s.begun[b[i]].slot, h.s.begun[b[j]].slot = int32(i), int32(j)
}
func (h begunHeap) Push(x any) {
	h.s.begun[x.(int32)].slot = int32(len(h.l.begun))
	h.l.begun = append(h.l.begun, x.(int32))
}
func (h begunHeap) Pop() any {
	last := len(h.l.begun) - 1
	b := h.l.begun[last]
	h.s.begun[b].slot = -1
	h.l.begun = h.l.begun[:last]
	return b
}

func (s *Scheduler) heapOf(at lineRef) begunHeap {
	q := &s.queues[at.queue]
	return begunHeap{s, q.line(int(at.line)), q.strict}
}

func (s *Scheduler) line(at lineRef) *line { return s.queues[at.queue].line(int(at.line)) }

// change runs f on a line and keeps the counts of ready lines.
func (s *Scheduler) change(at lineRef, f func(l *line)) {
	q := &s.queues[at.queue]
	l := q.line(int(at.line))
	was := l.ready()
	f(l)
	s.count(q, at.line, was)
}

// count keeps up what follows from a line that changed.
func (s *Scheduler) count(q *queue, i int32, was bool) {
	l := q.line(int(i))
	s.orderLine(q, i)
	if is := l.ready(); is && !was {
		q.ready++
		s.shapeReady.add(l.shape, 1)
		s.readied(q.pool, l.shape, 1)
		s.wanted(q.pool, l.shape, 1)
	} else if was && !is {
		q.ready--
		s.shapeReady.add(l.shape, -1)
		s.readied(q.pool, l.shape, -1)
		s.wanted(q.pool, l.shape, -1)
	}
}

// byResource reports whether it matters for the place of a pool which resources its tasks
// ask for.
func (s *Scheduler) byResource() bool { return s.apart || s.owes && len(s.mains.resources) > 1 }

// wanted counts a line that became ready, or is no more, for the minima on its way: a
// pool without tasks for what it is guaranteed must not go first with others.
func (s *Scheduler) wanted(id int32, shape cluster.Shape, n int32) {
	if !s.apart {
		return
	}
	request := s.cluster.Request(shape)
	for ; id >= 0; id = s.pools[id].parent {
		if l := s.limits(id); l != nil {
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
func (s *Scheduler) lacking(id int32) *limit {
	if !s.apart {
		return nil
	}
	for ; id >= 0; id = s.pools[id].parent {
		if l := s.limits(id); l != nil && l.below() {
			return l
		}
	}
	return nil
}

// lineFor returns the line of a leaf for jobs that ask for the same.
func (s *Scheduler) lineFor(leaf int32, of ask) lineRef {
	p := &s.pools[leaf]
	if p.queue < 0 {
		p.queue = int32(len(s.queues))
		s.queues = append(s.queues, queue{pool: leaf, first: line{ask: of, gate: s.openGate(leaf)}, strict: s.strict(leaf), ranked: s.ranked(leaf), most: s.jobRunning(leaf)})
	}
	q, spare := &s.queues[p.queue], -1
	for i := range q.lines() {
		l := q.line(i)
		if l.ask == of {
			return lineRef{p.queue, int32(i)}
		}
		if l.spare() {
			spare = i
		}
	}
	if spare >= 0 {
		q.line(spare).ask = of
		return lineRef{p.queue, int32(spare)}
	}
	q.more = append(q.more, line{ask: of, gate: s.openGate(leaf)})
	switch {
	case q.ordered():
		q.heads.pos = append(q.heads.pos, -1)
	case q.lines() > few:
		s.orderLines(q)
	}
	return lineRef{p.queue, int32(len(q.more))}
}

// spare reports whether nothing refers to the line, so that others may have it.
func (l *line) spare() bool { return l.tasks == 0 && l.refs == 0 && l.gate == noGate }

// head is the next job of a line: begun is -1 for a fresh one.
type head struct {
	id      int64
	since   time.Duration
	running int32
	begun   int32
}

func (s *Scheduler) head(l *line, strict bool) head {
	h := head{id: math.MaxInt64, running: math.MaxInt32, begun: -1}
	if l.fresh.jobs > 0 {
		front := l.fresh.front()
		h.id, h.since, h.running = front.id, front.since, 0
	}
	if len(l.begun) > 0 {
		b := &s.begun[l.begun[0]]
		if other := (head{b.id, b.since, b.running, l.begun[0]}); other.before(h, strict) {
			h = other
		}
	}
	return h
}

// oldest is the first job of a line in order of submission. Where the leaf serves those
// with the fewest running tasks first, it is looked for among all that have begun.
func (s *Scheduler) oldest(q *queue, l *line) head {
	h := s.head(l, true)
	if q.strict {
		return h
	}
	for _, i := range l.begun {
		if b := &s.begun[i]; b.id < h.id {
			h = head{b.id, b.since, b.running, i}
		}
	}
	return h
}

func (h head) before(g head, strict bool) bool {
	if h.running != g.running && !strict {
		return h.running < g.running
	}
	return h.id < g.id
}

// next returns the line of a leaf whose job goes first, of those that are ready.
func (s *Scheduler) next(leaf int32) (lineRef, head) {
	n := s.pools[leaf].queue
	q := &s.queues[n]
	if q.ranked {
		return s.firstByRank(leaf)
	}
	lacks, bestHelps := s.lacking(leaf), false
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
		helps := lacks != nil && lacks.helped(s.cluster.Request(l.shape))
		if h := s.head(l, q.strict); at < 0 || helps && !bestHelps || helps == bestHelps && h.before(best, q.strict) {
			best, at, bestHelps = h, int32(i), helps
		}
	}
	return lineRef{n, at}, best
}

// firstArrival is the arrival of the oldest job in a leaf that may start.
func (s *Scheduler) firstArrival(p *Pool) float64 {
	first, q := math.Inf(1), &s.queues[p.queue]
	if q.ordered() && q.strict {
		if q.ready > 0 {
			first = Arrival(int(max(0, p.band)), q.heads.heap[0].id)
		}
		return first
	}
	for i := range q.lines() {
		if l := q.line(i); l.ready() {
			first = min(first, Arrival(int(max(0, p.band)), s.oldest(q, l).id))
		}
	}
	return first
}

// take starts one task of the job at the head of a line and returns the number of
// the job in Scheduler.begun, -1 for a job of a single task.
func (s *Scheduler) take(at lineRef, h head) int32 {
	q := &s.queues[at.queue]
	l := q.line(int(at.line))
	was := l.ready()
	b := h.begun
	if b < 0 {
		e := l.fresh.take(h.id, s.epoch)
		if e.tasks == 1 && tighter(e.most, q.most) == 0 {
			s.count(q, at.line, was)
			return -1
		}
		b = s.begin(e, at)
	}
	j := &s.begun[b]
	j.waiting--
	j.running++
	s.reheap(b)
	s.count(q, at.line, was)
	return b
}

// begin makes a begun job of an entry.
func (s *Scheduler) begin(e entry, at lineRef) int32 {
	b := s.begunFree.take(len(s.begun))
	if int(b) == len(s.begun) {
		s.begun = append(s.begun, begun{})
	}
	s.begun[b] = begun{id: e.id, since: e.since, waiting: e.tasks, own: e.most, slot: -1, at: at, gang: s.gangOf(s.line(at).shape)}
	s.begun[b].most = tighter(e.most, s.queues[at.queue].most)
	s.begunOf[e.id] = b
	s.line(at).refs++
	return b
}

// tighter is the smaller of two limits, of which 0 is none.
func tighter(a, b int32) int32 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// reheap puts a begun job where it belongs: into the heap of its line in the right
// place, or out of it when it has nothing to start.
func (s *Scheduler) reheap(b int32) {
	j := &s.begun[b]
	h := s.heapOf(j.at)
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
func (s *Scheduler) release(b int32) {
	if j := &s.begun[b]; j.waiting == 0 && j.running == 0 {
		delete(s.begunOf, j.id)
		s.line(j.at).refs--
		s.begunFree = append(s.begunFree, b)
	}
}

// freeList hands out numbers again that were given back.
type freeList []int32

// take returns a free number, or next if there is none.
func (f *freeList) take(next int) int32 {
	if n := len(*f); n > 0 {
		i := (*f)[n-1]
		*f = (*f)[:n-1]
		return i
	}
	return int32(next)
}
