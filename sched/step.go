package sched

import (
	"math"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// Decision is what a step says to do. It can be used again for the next step, which
// then allocates nothing.
type Decision struct {
	Starts []Start
	// Stops are tasks that are to end early. Their room is free when they have ended.
	Stops []Stop
	// More is set when the step stopped at its limits although more could start: the
	// caller is to carry out this decision and step again.
	More bool
	// Next is the instant at which time alone could change the answer; zero if none.
	Next time.Time

	levels []Level
}

// Start is one task to start.
type Start struct {
	Run  RunID // to be given back to Finish or Abort
	Job  int64
	Pool PoolID // the leaf that is charged
	Node cluster.NodeID
	// Ahead is the job for which room was kept, and before which this one starts because it
	// does not need that room; 0 if there is none.
	Ahead int64

	from, to int32
}

// Level is the choice that was made at one pool on the way down.
type Level struct {
	Pool       PoolID // that divided
	Child      PoolID // that was chosen
	Rival      PoolID // the closest behind it that was looked at; 0 if there is none
	Open       int32  // children with work that might start
	Needy      bool   // chosen among the children below their minimum
	Terms      why.Terms
	RivalTerms why.Terms

	byKey bool // the rival is the next by key, and is looked for when a task starts
}

// Why returns the choices that led to a start, from the root down. They are valid
// until the decision is used again.
func (d *Decision) Why(s Start) []Level { return d.levels[s.from:s.to] }

func (d *Decision) reset() {
	*d = Decision{Starts: d.Starts[:0], Stops: d.Stops[:0], levels: d.levels[:0]}
}

// Step decides at t what starts now, as long as there is room, and counts it as
// running. At most limit tasks are started, all that can if limit is 0.
func (s *Scheduler) Step(t time.Time, limit int, d *Decision) {
	s.advance(t)
	d.reset()
	s.steps++
	if len(s.rebalancers) > 0 && !s.stops.left {
		s.rebalance(d)
	}
	if !s.nothingNew() {
		s.startSome(limit, d)
		s.backfill.unfinished, s.looked = d.More, s.events
	}
	s.reclaim(d)
	d.Next = s.nextInstant()
}

// startSome starts what may start, as the placement has it.
func (s *Scheduler) startSome(limit int, d *Decision) {
	if s.backfills() {
		s.beginBackfill()
	}
	if s.cfg.Placement == Conservative {
		s.stepConservative(limit, d)
	} else {
		s.drawAll(limit, d)
	}
}

// drawAll chooses leaf after leaf, and starts what fits.
func (s *Scheduler) drawAll(limit int, d *Decision) {
	pools, jobs := s.shortlist()
	for draws := 0; ; draws++ {
		if !s.somethingFits() || s.inners[s.pools[Root].inner].open == 0 || s.rootFull() || s.deepEnough(s.backfill.behind) {
			break
		}
		if limit > 0 && len(d.Starts) >= limit || pools > 0 && draws >= pools {
			d.More = true
			break
		}
		if !s.draw(jobs, limit, d) {
			break
		}
	}
}

// nothingNew reports whether nothing has happened since a step found that no more can start.
// Where a job that finds no room decides what others may do, and the order follows the clock,
// another look would let somebody start for no other reason than that it was taken.
func (s *Scheduler) nothingNew() bool {
	return s.steps > 1 && !s.backfill.unfinished && s.looked == s.events && (s.cfg.Placement == FCFS || s.cfg.Placement == EASY)
}

// rootFull reports whether the whole tree is at a limit of its own.
func (s *Scheduler) rootFull() bool {
	l := s.limits(int32(Root))
	return l != nil && l.full(s.pools[Root].Tasks)
}

// shortlist returns the limits that the root's policy sets to one step.
func (s *Scheduler) shortlist() (pools, jobs int) {
	if p, ok := s.inners[s.pools[Root].inner].policy.(Shortlister); ok {
		pools, jobs = p.Shortlist()
	}
	return pools, max(1, jobs)
}

// draw chooses a leaf and starts up to jobs tasks of it. It reports false when the
// step is over.
func (s *Scheduler) draw(jobs, limit int, d *Decision) bool {
	from := int32(len(d.levels))
	leaf := s.choose(d)
	if leaf < 0 {
		d.levels = d.levels[:from]
		return false
	}
	started := 0
	for started < jobs && s.openAbove(leaf) && (limit == 0 || len(d.Starts) < limit) {
		at, h := s.next(leaf)
		node, fits := s.admit(leaf, at, h.id)
		if !fits {
			// First come, first served: nobody passes a job that waits for room. One that a
			// maximum holds back waits for its own pool only.
			if started == 0 && s.cfg.Placement == FCFS && s.line(at).gate == noGate {
				return false
			}
			if started == 0 && s.cfg.Placement != FCFS && s.againFirst(leaf) {
				s.parkRoomless(leaf)
				continue
			}
			break
		}
		if started == 0 {
			s.findRivals(d.levels[from:])
		}
		s.startAt(leaf, at, h, node, from, d)
		started++
		if s.metMinimum(d.levels[from:]) {
			break
		}
	}
	if started == 0 {
		d.levels = d.levels[:from]
	}
	return true
}

// metMinimum reports whether a child that was chosen for being below its minimum has it now,
// so that the next choice is open again.
func (s *Scheduler) metMinimum(way []Level) bool {
	for i := range way {
		if way[i].Needy && !s.pools[way[i].Child].needy {
			return true
		}
	}
	return false
}

// choose walks down from the root to a leaf and records the choices.
func (s *Scheduler) choose(d *Decision) int32 {
	id := int32(Root)
	for s.pools[id].inner >= 0 {
		d.levels = append(d.levels, Level{Pool: PoolID(id)})
		l := &d.levels[len(d.levels)-1]
		if id = s.chooseChild(&s.inners[s.pools[id].inner], l); id < 0 {
			return -1
		}
		l.Child = PoolID(id)
	}
	return id
}

func (s *Scheduler) chooseChild(in *inner, l *Level) int32 {
	l.Open = int32(in.open)
	s.retarget(in)
	switch {
	case len(in.needy) > 0:
		l.Needy = true
		return s.chooseNeedy(in, l)
	case in.allot != nil:
		return s.chooseAllotted(in, l)
	case in.weigher != nil:
		return s.drawChild(in, l)
	case in.ranker != nil:
		return s.chooseRanked(in, l)
	}
	return s.chooseFirst(in, l)
}

// chooseFirst takes the child that goes first by its key.
func (s *Scheduler) chooseFirst(in *inner, l *Level) int32 {
	id := s.leading(in, &l.Terms)
	if in.carrier != nil {
		in.clock = math.Max(in.clock, in.carrier.Level(&s.pools[id], s.now))
	}
	l.byKey = true
	return id
}

// findRivals looks for the rivals of choices by key. Most choices come to nothing, as there is no
// room for the pool's requests: those need none.
func (s *Scheduler) findRivals(way []Level) {
	for i := range way {
		if l := &way[i]; l.byKey {
			s.rival(&s.inners[s.pools[l.Pool].inner], int32(l.Child), l)
		}
	}
}

// chooseNeedy orders the few children below their minimum by the same policy.
func (s *Scheduler) chooseNeedy(in *inner, l *Level) int32 {
	if in.keyed == nil && in.ranker == nil {
		return s.drawNeedy(in, l)
	}
	best := int32(-1)
	for _, id := range in.needy {
		t := s.terms(in, id)
		if best < 0 || s.goesBefore(&t, id, &l.Terms, best) {
			l.Rival, l.RivalTerms = PoolID(max(0, best)), l.Terms
			best, l.Terms = id, t
		} else if l.Rival == Root || s.goesBefore(&t, id, &l.RivalTerms, int32(l.Rival)) {
			l.Rival, l.RivalTerms = PoolID(id), t
		}
	}
	return best
}

// terms are what a child is compared by under a policy that has keys.
func (s *Scheduler) terms(in *inner, id int32) why.Terms {
	if in.ranker != nil {
		return s.rankTerms(in, id)
	}
	return in.keyed.Terms(&s.pools[id], s.setting(in))
}

// drawNeedy draws among the children below their minimum, by weight.
func (s *Scheduler) drawNeedy(in *inner, l *Level) int32 {
	total := 0.0
	for _, id := range in.needy {
		total += s.pools[id].Weight
	}
	x := s.random() * total
	for _, id := range in.needy {
		if x -= s.pools[id].Weight; x < 0 || id == in.needy[len(in.needy)-1] {
			if in.weigher != nil {
				l.Terms = in.weigher.Weigh(&s.pools[id])
			}
			return id
		}
	}
	return -1
}

// drawChild draws an open child at random.
func (s *Scheduler) drawChild(in *inner, l *Level) int32 {
	id := in.kids[in.weights.find(s.random()*in.weights.total())]
	l.Terms = in.weigher.Weigh(&s.pools[id])
	return id
}

// start moves a task from waiting to running.
func (s *Scheduler) start(leaf int32, at lineRef, h head, node cluster.NodeID, from int32, d *Decision) {
	j := Job{ID: h.id, Shape: s.line(at).shape, Class: s.line(at).class, Limit: s.line(at).limit, since: h.since}
	b := s.take(at, h)
	s.countWaiting(at, -1)
	if t := s.toll(j.Shape); t != nil {
		s.countStart(t)
	}
	id := s.occupy(leaf, b, &j, node, s.at, -1)
	d.Starts = append(d.Starts, Start{Run: id, Job: h.id, Pool: PoolID(leaf), Node: node, Ahead: s.ahead(j.Shape), from: from, to: int32(len(d.levels))})
}

// occupy counts a task in, on its node and in its pools, and with it tasks that wait. What
// wants to run and what runs change at once for those who are owed: a pool that starts its
// last task has not been idle between.
func (s *Scheduler) occupy(leaf, b int32, j *Job, node cluster.NodeID, started time.Time, wanted float64) RunID {
	shape := j.Shape
	i := s.runFree.take(len(s.runs))
	if int(i) == len(s.runs) {
		s.runs = append(s.runs, run{})
	}
	r := &s.runs[i]
	*r = run{job: j.ID, since: j.since, class: j.Class, pool: leaf, begun: b, shape: shape, limit: j.Limit, node: node, used: true, serial: r.serial + 1,
		band: max(0, s.pools[leaf].band), young: s.pools[leaf].young, started: started, start: s.now}
	if !started.Equal(s.at) {
		r.start = s.clock.At(started)
	}
	s.cluster.Take(node, shape)
	s.planStart(i)
	if t := s.toll(shape); t != nil {
		s.hold(t, +1)
	}
	width := s.cluster.Width(shape)
	if r.price = j.Charge; r.price == 0 {
		r.price = s.price(shape)
	}
	mean := s.meanOf(leaf)
	s.pools[leaf].Mean = mean
	flight := r.price * mean
	s.charge(leaf)
	for id := leaf; id >= 0; id = s.pools[id].parent {
		p := &s.pools[id]
		p.Tasks++
		p.Account.Start(width, r.price, r.start)
		p.Flight += flight
		s.useUp(id, width)
		if p.Days != nil {
			p.Days.Run(r.price, s.instant.Unix)
			p.Days.Add(r.price*(s.at.Sub(started).Seconds()), unix(started), s.instant.Unix)
		}
		s.changed(id)
		if l := s.limits(id); l != nil {
			l.add(s.cluster.Request(shape), +1)
		}
	}
	s.foresee(leaf)
	s.need(leaf, shape, 1, wanted)
	s.holdTask(leaf, shape, +1)
	s.settle(leaf)
	return r.id(int(i))
}

// meanOf is the mean length of a leaf's tasks, in seconds. Before the first of them
// ended it is that of the nearest pool above, and at the very first a configured one.
func (s *Scheduler) meanOf(leaf int32) float64 {
	p := &s.pools[leaf]
	if p.Seen > 0 || p.Tasks > 0 {
		return p.Mean
	}
	for id := p.parent; id >= 0; id = s.pools[id].parent {
		if s.pools[id].Seen > 0 {
			return s.pools[id].Mean
		}
	}
	return s.cfg.TaskSeconds
}
