package sched

import "math"

// sum adds and takes away numbers without building up rounding: what is lost of each
// operation is kept beside it (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur
// Summation endlicher Summen", 1974).
type sum struct{ high, low float64 }

func (a *sum) add(x float64) {
	t := a.high + x
	if math.Abs(a.high) >= math.Abs(x) {
		a.low += (a.high - t) + x
	} else {
		a.low += (x - t) + a.high
	}
	a.high = t
}

func (a sum) value() float64 { return a.high + a.low }

// changed keeps up what follows for the pool above from what waits and runs in a pool.
func (s *Scheduler) changed(id int32) {
	p := &s.pools[id]
	if counts := p.counts(); counts != p.counted {
		s.recount(id, counts)
	}
	if s.allots && p.parent >= 0 {
		if in := s.parentOf(id); in.allot != nil {
			s.owe(in, p)
		}
	}
}

func (s *Scheduler) recount(id int32, counts bool) {
	p := &s.pools[id]
	p.counted = counts
	if p.parent < 0 {
		return
	}
	sign := 1.0
	if !counts {
		sign = -1
	}
	s.parentOf(id).counted.add(sign * p.Weight)
}

// countAll computes from scratch what changed keeps up.
func (s *Scheduler) countAll() {
	for i := range s.inners {
		s.inners[i].counted = sum{}
		if a := s.inners[i].allotting; a != nil {
			a.fresh, a.open, a.loaned = false, sum{}, sum{}
		}
	}
	for i := range s.pools {
		s.pools[i].counted, s.pools[i].over = false, 0
		s.pools[i].Wanted = 0
		s.changed(int32(i))
	}
	s.countWanted()
	s.countOwing()
	s.countHoldings()
}

func (s *Scheduler) countWanted() {
	for i := range s.queues {
		q := &s.queues[i]
		for k := range q.lines() {
			if l := q.line(k); !l.held() {
				for id := q.pool; id >= 0; id = s.pools[id].parent {
					s.pools[id].Wanted += float64(l.tasks) * s.cluster.Width(l.shape)
				}
			}
		}
	}
}

// setting is what the children of a pool are compared in.
func (s *Scheduler) setting(in *inner) Setting {
	at := s.instant
	at.Weights, at.Above, at.Top, at.held = in.counted.value(), &s.pools[in.id], in.id == int32(Root), in.held
	if in.owing != nil {
		for _, d := range in.owing.of {
			d.Advance(at.Seconds)
		}
		at.debts, at.capacities = in.owing.of, s.mains.capacity
	}
	if in.allot != nil {
		at.Open, at.Loans = in.allotting.open.value(), in.allotting.loaned.value()+float64(s.room())
	}
	return at
}

// setInstant notes what all settings of this instant have in common.
func (s *Scheduler) setInstant() {
	s.instant.Now, s.instant.Seconds, s.instant.Unix = s.now, s.at.Sub(s.began).Seconds(), unix(s.at)
}

// setClock notes what they have in common until the clock is another.
func (s *Scheduler) setClock() {
	s.instant.MeanLife = s.clock.HalfLife().Seconds() / math.Ln2
	s.setInstant()
}

// measure notes what the cluster has.
func (s *Scheduler) measure() {
	s.events++
	capacity, _ := s.cluster.Capacity()
	s.capacity = float64(capacity[0])
	s.total(capacity)
	s.instant.Capacity = s.worth()
	if s.owes {
		s.measureMains()
		s.meetMains()
	}
}

// addWaiting counts tasks of a line in or out, up to the root.
func (s *Scheduler) addWaiting(at lineRef, n int64) {
	s.countWaiting(at, n)
	if l := s.line(at); !l.held() {
		s.need(s.queues[at.queue].pool, l.shape, 0, float64(n))
	}
}

// countWaiting does it but for what pools are owed.
func (s *Scheduler) countWaiting(at lineRef, n int64) {
	l := s.line(at)
	l.tasks += n
	for id := s.queues[at.queue].pool; id >= 0; id = s.pools[id].parent {
		s.pools[id].Waiting += n
		s.changed(id)
	}
	if !l.held() {
		s.addWanted(at, n)
	}
}

// want counts tasks that wait and could start, up to the root.
func (s *Scheduler) want(at lineRef, n int64) {
	s.addWanted(at, n)
	s.need(s.queues[at.queue].pool, s.line(at).shape, 0, float64(n))
}

func (s *Scheduler) addWanted(at lineRef, n int64) {
	if !s.allots && !s.owes {
		return
	}
	width := s.cluster.Width(s.line(at).shape)
	for id := s.queues[at.queue].pool; id >= 0; id = s.pools[id].parent {
		s.pools[id].Wanted += float64(n) * width
	}
}
