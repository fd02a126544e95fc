package sched

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// Configure puts a configuration in force. On an error the old one stays. Pools that
// the new tree does not name keep their jobs, under the weight 1 and without limits.
func (s *Scheduler) Configure(cfg Config, t time.Time) error {
	if err := cfg.check(); err != nil {
		return err
	}
	to, err := s.keepPriorities(&cfg)
	if err != nil {
		return err
	}
	s.advance(t)
	s.deferred = true
	s.renumberPriorities(to)
	s.reclock(cfg.HalfLife)
	before := s.remember()
	cfg.Unit = s.cluster.Unit()
	s.cfg = cfg
	s.reprice()
	s.backfill.plan = nil
	s.setRanks()
	s.renewal = renewal{}
	s.forget()
	s.applying = true
	s.apply(int32(Root), &s.cfg.Root)
	s.applying = false
	s.restarters()
	s.configureReclaim()
	s.rebalancers, s.allots = nil, false
	s.inheritBelow(int32(Root))
	s.keepDays()
	s.ripen()
	s.refill()
	s.carry(before)
	s.valueAll()
	s.rebuild()
	return nil
}

// maxPriorities bounds the priorities, so that an [Arrival] is exact.
const maxPriorities = 32

// keepPriorities appends the priorities that the new configuration does not know any
// more: jobs may wait under them, and keep their weight. It returns the new number of
// each priority.
func (s *Scheduler) keepPriorities(cfg *Config) (to []int8, err error) {
	all := slices.Clone(cfg.Priorities)
	for _, old := range s.cfg.Priorities {
		i := slices.IndexFunc(all, func(p Priority) bool { return p.Name == old.Name })
		if i < 0 {
			i = len(all)
			all = append(all, old)
		}
		to = append(to, int8(i))
	}
	if len(all) > maxPriorities {
		return nil, fmt.Errorf("sched: more than %d priorities, with those that are no longer configured and under which jobs may wait; restart to forget these", maxPriorities)
	}
	cfg.Priorities = all
	return to, nil
}

// renumberPriorities brings the numbers that are kept up to date.
func (s *Scheduler) renumberPriorities(to []int8) {
	for i := range s.pools {
		if p := &s.pools[i]; p.band >= 0 {
			p.band = to[p.band]
		}
	}
	for i := range s.runs {
		s.runs[i].band = to[s.runs[i].band]
	}
	for i := range s.later.heap {
		j := &s.later.heap[i].job
		j.Priority = int(to[j.Priority])
	}
}

// standing is what a pool under a carrier had before a change.
type standing struct {
	formula *why.Formula // of the policy
	weight  float64
	level   float64
}

func (s *Scheduler) remember() []standing {
	before := make([]standing, len(s.pools))
	for i := 1; i < len(s.pools); i++ {
		if in := s.parentOf(int32(i)); in.carrier != nil {
			p := &s.pools[i]
			before[i] = standing{in.policy.Formula(), p.Weight, in.carrier.Level(p, s.now)}
		}
	}
	return before
}

// carry lets the pools whose weight changed keep their level, and begins afresh where
// a carrier is new.
func (s *Scheduler) carry(before []standing) {
	for i := 1; i < len(s.pools); i++ {
		p, in := &s.pools[i], s.parentOf(int32(i))
		if in.carrier == nil {
			continue
		}
		switch {
		case i >= len(before): // a new pool comes in like one that was away
			in.carrier.Carry(p, in.clock, s.now)
		case before[i].formula != in.policy.Formula():
			in.clock = 0
			in.carrier.Carry(p, 0, s.now)
		case before[i].weight != p.Weight:
			in.carrier.Carry(p, before[i].level, s.now)
		}
	}
}

// forget drops what the old configuration said of the pools.
func (s *Scheduler) forget() {
	s.ownNames()
	for i := range s.pools {
		l := &s.labels[i]
		l.policy, l.made, l.starter, l.factor, l.assoc, l.reclaim = "", nil, share.Starter{}, nil, nil, share.Reclaim{}
		s.pools[i].configured = false
		s.pools[i].limit = -1
		l.weight = 1
		if l.kind == band {
			l.weight = s.bandWeight(int(s.pools[i].band), s.pools[i].young)
		}
		s.pools[i].Weight = l.weight
	}
	s.limited, s.apart = nil, false
}

// apply takes over what the configuration says of a pool and those below it.
func (s *Scheduler) apply(id int32, spec *share.Pool) {
	s.ownNames()
	s.labels[id].policy, s.labels[id].reclaim = spec.Policy, spec.Reclaim
	if spec.Policy != "" {
		s.labels[id].made = s.cfg.NewPolicy(spec.Policy, spec.Options)
	}
	s.pools[id].configured = true
	s.labels[id].starter = spec.Starter
	s.labels[id].factor, s.labels[id].assoc = spec.Factor, spec.AssocFactor
	if id != int32(Root) {
		s.labels[id].weight, s.pools[id].Weight = spec.Weight, spec.Weight
	}
	if len(spec.Min)+len(spec.Max) > 0 || spec.MaxRunning > 0 || spec.JobRunning > 0 {
		s.pools[id].limit = int32(len(s.limited))
		s.limited = append(s.limited, s.newLimit(spec, cmp.Or(s.Path(PoolID(id)), "root")))
	}
	for i := range spec.Pools {
		s.apply(s.child(id, spec.Pools[i].Name, named), &spec.Pools[i])
	}
}

func (s *Scheduler) newLimit(spec *share.Pool, path string) limit {
	least, most := s.cluster.Vector(spec.Min), s.cluster.Vector(spec.Max)
	l := limit{min: least, tasks: int32(spec.MaxRunning), jobRunning: int32(spec.JobRunning)}
	l.max = make([]int64, len(most))
	for r := range l.max {
		l.max[r] = -1
	}
	l.names = limitNames{"max_running of " + path, make([]string, len(most))}
	for name, n := range spec.Max {
		r := s.cluster.Number(name)
		l.max[r], l.names.max[r] = n, "max "+name+" of "+path
	}
	l.used = make([]int64, max(len(least), len(most)))
	l.wants = make([]int32, len(least))
	for r, n := range least {
		s.apart = s.apart || r > 0 && n > 0
	}
	return l
}

// inheritBelow sets the policies of all inner pools, parents first.
func (s *Scheduler) inheritBelow(id int32) {
	if s.pools[id].inner < 0 {
		return
	}
	s.inherit(id)
	for _, kid := range s.inners[s.pools[id].inner].kids {
		s.inheritBelow(kid)
	}
}

// refill computes what follows from the limits anew: what is in use of them, and how
// many tasks of one job may run. All lines may try again.
func (s *Scheduler) refill() {
	for i := range s.runs {
		if r := &s.runs[i]; r.used {
			for id := r.pool; id >= 0; id = s.pools[id].parent {
				if l := s.limits(id); l != nil {
					l.add(s.cluster.Request(r.shape), +1)
				}
			}
		}
	}
	s.shapeReady.clear()
	s.noRoom.clear()
	s.windowing.parked = nil
	s.setTolls(&s.cfg)
	for i := range s.queues {
		q := &s.queues[i]
		q.ready, q.strict, q.ranked, q.most = 0, s.strict(q.pool), s.ranked(q.pool), s.jobRunning(q.pool)
		if q.ordered() {
			q.heads.clear()
		}
		for k := range q.lines() {
			l := q.line(k)
			l.gate = s.openGate(q.pool)
			s.count(q, int32(k), false)
		}
	}
	for b := range s.begun {
		if j := &s.begun[b]; s.begunOf[j.id] == int32(b) && j.waiting+j.running > 0 {
			j.most = tighter(j.own, s.queues[j.at.queue].most)
			s.change(j.at, func(*line) { s.reheap(int32(b)) })
		}
	}
}
