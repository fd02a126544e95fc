package sched

import (
	"time"

	"github.com/fairlead/fairlead/share"
)

// Known says since when a pool is there and what it has received, not decayed, in
// slot-seconds, running tasks included.
type Known struct {
	Pool  string // path
	First time.Time
	Had   float64
}

// Know tells the scheduler of pools that were there before it was made: what is left of
// their starters goes on. A pool that is told of by nobody begins when it is made.
func (s *Scheduler) Know(pools []Known, t time.Time) {
	s.advance(t)
	s.ownNames()
	var changed []int32
	for _, k := range pools {
		id, there := s.Lookup(k.Pool)
		if !there || id == Root {
			continue
		}
		s.labels[id].first = k.First
		s.restart(int32(id), k.Had)
		changed = append(changed, int32(id))
	}
	s.reweigh(changed...)
}

// restart begins the starter of a pool anew, if it has one, without touching its weight.
func (s *Scheduler) restart(id int32, had float64) {
	for _, slot := range s.boosts.of[id] {
		if s.boosts.slots[slot].Starter {
			s.drop(slot)
			break
		}
	}
	delete(s.boosts.spent, id)
	if b := s.starter(id, had); b.Factor > 0 && !b.over(s.at) {
		s.enter(b, id)
	} else if b.Usage > 0 && had >= b.Usage {
		s.spend(&boost{Boost: b, pool: id})
	}
}

// starter is the boost that a pool begins with, without a factor if it has none: those
// have one that are made on demand below a pool that gives it.
func (s *Scheduler) starter(id int32, had float64) Boost {
	l := &s.labels[id]
	if l.kind != named || id == int32(Root) || s.pools[id].configured || l.name == share.DefaultPool {
		return Boost{}
	}
	of := s.labels[s.pools[id].parent].starter
	if of.Weight == 0 {
		return Boost{}
	}
	b := Boost{Pool: s.Path(PoolID(id)), Factor: of.Weight, Usage: of.Usage, Had: had, Starter: true}
	if of.For > 0 {
		b.Until = l.first.Add(of.For)
	}
	return b
}

// spend remembers what a pool had received when its starter was used up.
func (s *Scheduler) spend(b *boost) {
	if had := s.had(b); b.Starter && b.Usage > 0 && had >= b.Usage*(1-1e-9) {
		if s.boosts.spent == nil {
			s.boosts.spent = map[int32]float64{}
		}
		s.boosts.spent[b.pool] = had
	}
}

// restarters brings the starters in line with a new configuration: a pool keeps what is
// left of its own by the new numbers.
func (s *Scheduler) restarters() {
	had := map[int32]float64{}
	for id, spent := range s.boosts.spent {
		had[id] = spent
	}
	for slot := range s.boosts.slots {
		if b := &s.boosts.slots[slot]; b.Starter {
			had[b.pool] = s.had(b)
		}
	}
	for id := range s.pools {
		if _, has := had[int32(id)]; has || s.starter(int32(id), 0).Factor > 0 {
			s.restart(int32(id), had[int32(id)])
		}
	}
	for id := range s.boosts.of {
		s.pools[id].Weight = s.weightOf(id)
	}
}
