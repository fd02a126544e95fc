package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// Job is the header of a job with tasks that wait: all that the scheduler knows.
type Job struct {
	ID       int64 // in order of submission
	Pool     PoolID
	Shape    cluster.Shape
	Priority int       // index into Config.Priorities
	Tasks    int       // how many wait
	Most     int       // tasks of the job at once; 0 is no limit
	Begin    time.Time // not before; zero is now
	// Limit is how long each task may run at most, and what room in the future is planned
	// by; 0 is no limit.
	Limit time.Duration
	// Submitted is when the job came; zero for one that never counts as new.
	Submitted time.Time
	Class     Class // of its traits, under a [Ranker]
	// Charge is what each of its tasks is charged each second, for [Scheduler.Adopt]: 0 is
	// what one would be that starts now.
	Charge float64

	since time.Duration // Submitted as a distance, where it is known in that form only
}

// sinceThen is when a job was submitted; one of which it is not known is taken to be new.
func (s *Scheduler) sinceThen(j *Job) time.Duration {
	switch {
	case j.since != 0:
		return j.since
	case j.Submitted.IsZero():
		return since(s.at)
	}
	return since(j.Submitted)
}

// Add says that Tasks more tasks of the job wait. A job is added when it is
// submitted, and again when tasks of it come back after they ran.
func (s *Scheduler) Add(j Job, t time.Time) {
	s.advance(t)
	if j.Begin.After(s.at) {
		s.later.add(j)
		return
	}
	s.add(j)
}

func (s *Scheduler) add(j Job) { s.addAs(j, s.young(j)) }

// addAs adds a job to the band of the new ones, or to that of the others.
func (s *Scheduler) addAs(j Job, young bool) {
	s.events++
	leaf := s.leaf(j, young)
	at := s.lineFor(leaf, askOf(&j))
	if young && s.pools[leaf].young && !j.Submitted.IsZero() {
		s.watch(j, at)
	}
	if len(s.tolls) > 0 && s.toll(j.Shape) == nil {
		s.joins(leaf)
	}
	most := int32(j.Most)
	b, begun := s.begunOf[j.ID]
	if gang := s.gangOf(j.Shape); !begun && int32(j.Tasks) < gang {
		b, begun = s.begin(entry{id: j.ID, since: s.sinceThen(&j), most: most}, at), true
	}
	if begun {
		s.addBegun(b, at, int32(j.Tasks), most)
	} else {
		q := &s.queues[at.queue]
		l := q.line(int(at.line))
		was := l.ready()
		l.fresh.add(entry{j.ID, s.sinceThen(&j), int32(j.Tasks), most}, s.epoch)
		s.count(q, at.line, was)
	}
	s.addWaiting(at, int64(j.Tasks))
	s.came(j.ID, at, int32(j.Tasks))
	if in := s.parentOf(leaf); begun || !s.pools[leaf].in || in.first || in.ranks || s.byResource() {
		s.settle(leaf)
	}
	s.meetMains()
}

// addBegun gives a job some of whose tasks run further tasks that wait, perhaps in
// another line than before.
func (s *Scheduler) addBegun(b int32, at lineRef, tasks, most int32) {
	j := &s.begun[b]
	j.own, j.most, j.gang = most, tighter(most, s.queues[at.queue].most), s.gangOf(s.line(at).shape)
	if j.at != at {
		moved := j.waiting
		s.change(j.at, func(*line) { j.waiting = 0; s.reheap(b) })
		s.addWaiting(j.at, -int64(moved))
		s.settle(s.queues[j.at.queue].pool)
		s.line(j.at).refs--
		s.line(at).refs++
		j.at, j.waiting = at, moved
		s.addWaiting(at, int64(moved))
	}
	s.change(at, func(*line) { j.waiting += tasks; s.reheap(b) })
}

// leaf returns the leaf that holds the job: the job's pool, or the band of its
// priority where the pool holds jobs of several, or new ones besides others.
func (s *Scheduler) leaf(j Job, young bool) int32 {
	id := int32(j.Pool)
	for {
		p := &s.pools[id]
		switch {
		case p.inner < 0 && s.mixed(id):
			p.band, p.young = int8(j.Priority), false
			return id
		case p.inner < 0 && (p.band == int8(j.Priority) && p.young == young || p.Waiting == 0 && s.labels[id].kind == named):
			p.band, p.young = int8(j.Priority), young
			return id
		case p.inner < 0 || s.banded(id):
			id = s.child(id, s.bandName(j.Priority, young), band)
		default: // the pool got children since its number was asked for
			id = int32(s.Pool(s.Path(PoolID(id))))
		}
	}
}

// mixed reports whether jobs of all priorities stand in one leaf: where each job has a
// priority of its own, to which the name of its priority contributes as its quality of
// service. A leaf stays mixed until the jobs that came so have gone.
func (s *Scheduler) mixed(id int32) bool {
	q := s.pools[id].queue
	if s.ranks != nil && s.ranked(id) {
		if q >= 0 {
			s.queues[q].mixed = true
		}
		return true
	}
	if q >= 0 && s.queues[q].mixed && s.pools[id].Waiting == 0 {
		s.queues[q].mixed = false
	}
	return q >= 0 && s.queues[q].mixed
}

// Withdraw says that no task of the job waits any more: it was cancelled or held.
// It needs the same Pool, Shape and Priority with which the job was added, and
// returns how many tasks waited. Tasks that run are left alone.
func (s *Scheduler) Withdraw(j Job, t time.Time) int {
	s.advance(t)
	s.events++
	s.backfill.keep.left, s.backfill.keep.freed = true, true
	n := s.later.withdraw(j.ID)
	if b, ok := s.begunOf[j.ID]; ok {
		return n + s.withdrawBegun(b)
	}
	at, found := s.held(j)
	if !found {
		return n
	}
	waiting := int32(0)
	s.change(at, func(l *line) { waiting = l.fresh.remove(j.ID, s.epoch) })
	s.addWaiting(at, -int64(waiting))
	s.settle(s.queues[at.queue].pool)
	return n + int(waiting)
}

func (s *Scheduler) withdrawBegun(b int32) int {
	j := &s.begun[b]
	leaf, n := s.queues[j.at.queue].pool, int(j.waiting)
	s.change(j.at, func(*line) { j.waiting = 0; s.reheap(b) })
	s.release(b)
	s.addWaiting(j.at, -int64(n))
	s.settle(leaf)
	return n
}

// RunID names a task from its start to its end.
type RunID uint64

// run is a task that occupies capacity.
type run struct {
	job     int64
	since   time.Duration // submission of the job, from agesFrom
	class   Class
	pool    int32   // that is charged
	begun   int32   // the job's number if it has several tasks, else -1
	price   float64 // what it is charged each second
	shape   cluster.Shape
	limit   time.Duration
	node    cluster.NodeID
	used    bool
	queued  bool   // has not begun: it waits in a queue of its node, see [Scheduler.Queue]
	serial  uint32 // guards against a RunID of an earlier task
	band    int8
	young   bool
	started time.Time
	until   int64     // planned end, where room in the future is planned
	start   usage.Now // the same in the clock's units
	leaves
}

// ask is what a task asked for, as its line.
func (r *run) ask() ask { return ask{r.shape, r.class, r.limit} }

func (s *Scheduler) run(id RunID) *run {
	r := &s.runs[uint32(id)]
	if !r.used || r.serial != uint32(id>>32) {
		panic("sched: task ended twice")
	}
	return r
}

// Finish says that a task ended at t: its capacity is free, its service is settled,
// and its length counts into the mean of its pool if learn is set.
func (s *Scheduler) Finish(id RunID, t time.Time, learn bool) { s.FinishAt(id, t, t, learn) }

// FinishAt is Finish for a task of which it is known at t only that it ended before.
func (s *Scheduler) FinishAt(id RunID, ended, t time.Time, learn bool) {
	s.advance(t)
	r, end := s.run(id), s.now
	if ended.Before(s.at) {
		if ended.Before(r.started) {
			ended = r.started
		}
		end = s.clock.At(ended)
	}
	seconds, rate := ended.Sub(r.started).Seconds(), r.rate()
	learn = learn && !r.queued
	s.end(id, func(p *Pool, width float64) {
		p.Account.Finish(width, rate, r.start, end)
		if learn {
			p.Learn(r.price, seconds, s.now)
		}
	})
}

// Abort says that a task did not start after all, as if it had never been chosen: it does
// not count under its rates. If back is set it waits again.
func (s *Scheduler) Abort(id RunID, t time.Time, back bool) {
	s.advance(t)
	r, most := *s.run(id), int32(0)
	if r.begun >= 0 {
		most = s.begun[r.begun].own
	}
	s.end(id, func(p *Pool, width float64) { p.Account.Finish(width, r.rate(), r.start, r.start) })
	s.refund(&r)
	if t := s.toll(r.shape); t != nil {
		s.uncountStart(t)
	}
	if back {
		s.waitAgain(&r, most)
	}
}

// waitAgain adds the task of a run that is over.
func (s *Scheduler) waitAgain(r *run, most int32) {
	path := s.Path(PoolID(r.pool))
	// A job that is new still has its entry among those that are.
	s.addAs(Job{ID: r.job, Pool: s.Pool(path), Shape: r.shape, Priority: int(r.band), Tasks: 1, Most: int(most), Limit: r.limit, Class: r.class, since: r.since},
		r.young && s.ripening.has(r.job))
}

// end takes a task off its node and its pools; settle is called for each of these.
func (s *Scheduler) end(id RunID, settle func(p *Pool, width float64)) {
	r := s.run(id)
	width, leaf := s.cluster.Width(r.shape), r.pool
	s.giveBack(r)
	t := s.toll(r.shape)
	if t != nil {
		s.hold(t, -1)
	}
	before := s.pools[leaf].Mean
	if in := s.pools[leaf].inner; in >= 0 { // it was a leaf when the task started
		before = s.inners[in].mean
	}
	flight := -r.price * before
	if r.queued {
		s.countQueued(r, -1)
	}
	s.charge(leaf)
	settle(&s.pools[leaf], width)
	if s.pools[leaf].inner < 0 {
		flight += s.pools[leaf].Rate * (s.pools[leaf].Mean - before)
	}
	for at := leaf; at >= 0; at = s.pools[at].parent {
		p := &s.pools[at]
		if at != leaf {
			settle(p, width)
		}
		p.Tasks--
		if p.Days != nil {
			p.Days.Run(-r.rate(), s.instant.Unix)
		}
		p.Flight += flight
		if p.Tasks == 0 {
			p.Flight = 0
		}
		s.changed(at)
		if l := s.limits(at); l != nil {
			l.add(s.cluster.Request(r.shape), -1)
			s.returning(&l.parked, byMax)
		}
	}
	s.foresee(leaf)
	s.need(leaf, r.shape, -1, 0)
	s.holdTask(leaf, r.shape, -1)
	if r.begun >= 0 {
		b := r.begun
		s.change(s.begun[b].at, func(*line) { s.begun[b].running--; s.reheap(b) })
		s.settle(s.queues[s.begun[b].at.queue].pool)
		s.release(b)
	}
	s.useAgain(leaf)
	s.settle(leaf)
	r.used = false
	s.runFree = append(s.runFree, int32(uint32(id)))
	if t != nil {
		s.openLicenses(t)
	}
	s.openFits()
}

// Adopt takes over a task that ran already when the scheduler was made: it started
// at started, on the node. The job's other tasks are added by themselves.
func (s *Scheduler) Adopt(j Job, node cluster.NodeID, started, t time.Time) RunID {
	s.events++
	s.advance(t)
	leaf := s.leaf(j, s.young(j))
	b := int32(-1)
	if j.Tasks > 1 || j.Most > 0 || s.gangOf(j.Shape) > 0 {
		b = s.adoptBegun(j, leaf)
	}
	j.since = s.sinceThen(&j)
	id := s.occupy(leaf, b, &j, node, started, 0)
	s.meetMains()
	return id
}

func (s *Scheduler) adoptBegun(j Job, leaf int32) int32 {
	b, ok := s.begunOf[j.ID]
	if !ok {
		b = s.begin(entry{id: j.ID, since: s.sinceThen(&j), most: int32(j.Most)}, s.lineFor(leaf, askOf(&j)))
	}
	s.change(s.begun[b].at, func(*line) { s.begun[b].running++; s.reheap(b) })
	return b
}

// Restore gives a leaf the service it received and the mean length of its tasks
// before the scheduler was made; amounts are as of now. Policies with a memory of
// their own begin afresh: after a restart nobody is owed for what happened before,
// beyond what the usage itself says.
func (s *Scheduler) Restore(leaf PoolID, settled, mean, seen float64) {
	for id := int32(leaf); id >= 0; id = s.pools[id].parent {
		p := &s.pools[id]
		p.Settled += settled
		if seen > 0 {
			p.Seen += seen
			p.Mean += (mean - p.Mean) * seen / p.Seen
		}
		if in := s.inAbove(id); in != nil && in.carrier != nil {
			in.carrier.Carry(p, 0, s.now)
		}
	}
	s.settle(int32(leaf))
}

// SetUsage gives a leaf the service that it received, as of now, and makes it count
// in the comparison at once.
func (s *Scheduler) SetUsage(leaf PoolID, settled float64) {
	s.events++
	for id := int32(leaf); id >= 0; id = s.pools[id].parent {
		s.pools[id].Settled += settled
		if d := s.pools[id].Days; d != nil {
			d.Advance(s.instant.Unix)
			d.Add(settled/s.now.Growth, s.instant.Unix, s.instant.Unix)
		}
	}
	s.settle(int32(leaf))
}

func (s *Scheduler) inAbove(id int32) *inner {
	if id == int32(Root) {
		return nil
	}
	return s.parentOf(id)
}

// Join adds a node or changes its capacity; it takes tasks from now on.
func (s *Scheduler) Join(name string, capacity cluster.Amounts, t time.Time) cluster.NodeID {
	return s.JoinLabelled(name, capacity, nil, t)
}

// JoinLabelled is Join for a node with labels.
func (s *Scheduler) JoinLabelled(name string, capacity cluster.Amounts, labels cluster.Labels, t time.Time) cluster.NodeID {
	s.advance(t)
	id := s.cluster.JoinLabelled(name, capacity, labels)
	s.measure()
	s.resized()
	s.backfill.plan = nil
	s.openFits()
	return id
}

// SetNode changes whether a node takes tasks. What runs on a node that is down ends
// by Finish, when the caller knows that it does not run any more.
func (s *Scheduler) SetNode(id cluster.NodeID, state cluster.State, t time.Time) {
	s.advance(t)
	s.cluster.SetState(id, state)
	s.measure()
	s.resized()
	s.backfill.plan = nil
	s.openFits()
}
