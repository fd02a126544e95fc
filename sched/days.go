package sched

import (
	"time"

	"github.com/fairlead/fairlead/usage"
)

// unix is an instant in seconds since 1970.
func unix(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// keepDays gives the pools that are compared by days what they need for it, from now
// on, and takes it from the others.
func (s *Scheduler) keepDays() {
	for i := 1; i < len(s.pools); i++ {
		s.keepDaysOf(int32(i))
	}
}

func (s *Scheduler) keepDaysOf(id int32) {
	p := &s.pools[id]
	daily := s.parentOf(id).daily
	if daily == nil && p.inner >= 0 { // those below it are compared by what it received
		daily = s.inners[p.inner].daily
	}
	if daily == nil {
		p.Days = nil
		return
	}
	n, factor := daily.Days()
	if p.Days != nil && p.Days.Counts(n, factor) {
		return
	}
	p.Days = usage.NewDays(n, factor, s.instant.Unix)
	s.daysBegan = true
	p.Days.Run(p.Rate, s.instant.Unix)
}

// rollDays moves all days on when a day is over.
func (s *Scheduler) rollDays() {
	for i := range s.pools {
		if d := s.pools[i].Days; d != nil {
			d.Advance(s.instant.Unix)
		}
	}
}

// DaysKept is how many days the policies count, 0 if none does, and whether there are
// pools that began to be compared by days since the last call: they know nothing of the
// days before.
func (s *Scheduler) DaysKept() (n int, seed bool) {
	for i := range s.inners {
		if in := &s.inners[i]; in.daily != nil {
			days, _ := in.daily.Days()
			n = max(n, days)
		}
	}
	seed = s.daysBegan && n > 0
	s.daysBegan = false
	return n, seed
}

// SeedDay counts what tasks of a leaf that ended received on the day of an instant.
func (s *Scheduler) SeedDay(leaf PoolID, amount float64, day time.Time) {
	for id := int32(leaf); id >= 0; id = s.pools[id].parent {
		if d := s.pools[id].Days; d != nil {
			d.Advance(s.instant.Unix)
			d.Add(amount, unix(day), unix(day))
		}
	}
	s.settle(int32(leaf))
}

// ClearDays forgets what tasks that ended received on all days.
func (s *Scheduler) ClearDays() {
	for i := range s.pools {
		if d := s.pools[i].Days; d != nil {
			d.Advance(s.instant.Unix)
			d.Clear()
		}
	}
}

// SetUsed sets what tasks of a leaf that ended have received, as of t, in slot-seconds. A
// pool with a standing of its own enters the comparison anew, like one that was away.
func (s *Scheduler) SetUsed(leaf PoolID, used float64, t time.Time) {
	s.advance(t)
	s.events++
	change := used*s.now.Growth - s.pools[leaf].Settled
	for id := int32(leaf); id >= 0; id = s.pools[id].parent {
		p := &s.pools[id]
		p.Settled = max(0, p.Settled+change)
		if in := s.inAbove(id); in != nil && in.carrier != nil {
			in.carrier.Carry(p, s.level(in), s.now)
		}
	}
	s.settle(int32(leaf))
}
