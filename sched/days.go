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
	p, in := &s.pools[id], s.parentOf(id)
	if in.daily == nil {
		p.Days = nil
		return
	}
	n, factor := in.daily.Days()
	if p.Days != nil && p.Days.Counts(n, factor) {
		return
	}
	p.Days = usage.NewDays(n, factor, unix(s.at))
	p.Days.Run(p.Running, unix(s.at))
}

// rollDays moves all days on when a day is over.
func (s *Scheduler) rollDays() {
	for i := range s.pools {
		if d := s.pools[i].Days; d != nil {
			d.Advance(unix(s.at))
		}
	}
}

// SeedDays counts what a leaf received between two instants before the scheduler was
// made, where days count.
func (s *Scheduler) SeedDays(leaf PoolID, amount float64, from, to time.Time) {
	for id := int32(leaf); id >= 0; id = s.pools[id].parent {
		if d := s.pools[id].Days; d != nil {
			d.Advance(unix(s.at))
			d.Add(amount, unix(from), unix(to))
		}
	}
	s.settle(int32(leaf))
}
