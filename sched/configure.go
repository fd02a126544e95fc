package sched

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

// Configure applies a configuration. On an error the old one stays. Pools that the new tree does not name keep
// their jobs, with weight 1 and without limits.
func (s *Scheduler) Configure(cfg Config, t time.Time) error {
	if err := cfg.check(); err != nil {
		return err
	}
	to, err := s.site.keepPriorities(&cfg)
	if err != nil {
		return err
	}
	s.Advance(t)
	s.orders.deferred = true
	s.intake.renumberPriorities(to)
	s.turns.reclock(cfg.HalfLife)
	before := s.tree.remember()
	cfg.Unit = s.site.cluster.Unit()
	placed := s.site.cfg.Backfill
	s.site.cfg = cfg
	s.gates.follow(cfg.Backfill)
	s.tariff.reprice()
	s.reserve.backfill.plan = nil
	s.precedence.setRanks()
	s.tree.renewal = renewal{}
	s.tree.forget()
	s.growth.applying = true
	s.growth.apply(int32(Root), &s.site.cfg.Root)
	s.growth.applying = false
	s.overrides.restarters()
	s.reclaimer.configure()
	s.tree.rebalancers, s.tree.allots = nil, false
	s.orders.inheritBelow(int32(Root))
	s.tree.keepDays()
	s.intake.ageNewJobs()
	s.gates.refill()
	s.tree.carry(before)
	s.precedence.valueAll()
	s.turns.rebuild()
	if s.site.cfg.Backfill != placed || s.reserve.backfill.arrival != s.tree.byArrivalOnly() {
		s.reserve.letGo()
	}
	return nil
}

// renumberPriorities updates the stored numbers of priorities.
func (a *intake) renumberPriorities(to []int8) {
	for i := range a.tree.pools {
		if p := &a.tree.pools[i]; p.priority >= 0 {
			p.priority = to[p.priority]
		}
	}
	for i := range a.queues.all {
		for k := range a.queues.all[i].subs() {
			sub := a.queues.all[i].sub(k)
			sub.priority = to[sub.priority]
		}
	}
	for i := range a.running.runs {
		a.running.runs[i].priority = to[a.running.runs[i].priority]
	}
	for i := range a.later.heap {
		j := &a.later.heap[i].job
		j.Priority = int(to[j.Priority])
	}
}

// forget drops the settings that the old configuration gave the pools.
func (t *tree) forget() {
	t.ownNames()
	for i := range t.pools {
		l := &t.labels[i]
		l.policy, l.made, l.starter, l.factor, l.assoc, l.reclaim = "", nil, share.Starter{}, nil, nil, share.Reclaim{}
		t.pools[i].configured = false
		t.pools[i].limit = -1
		l.weight = 1
		if l.kind == priorityClass {
			l.weight = t.site.classWeight(int(t.pools[i].priority), t.pools[i].isNew)
		}
		t.pools[i].Weight = l.weight
	}
	t.limited, t.apart = nil, false
}

// apply copies the configured settings of a pool and the pools below it.
func (g *growth) apply(id int32, spec *share.Pool) {
	g.tree.ownNames()
	g.tree.labels[id].policy, g.tree.labels[id].reclaim = spec.Policy, spec.Reclaim
	if spec.Policy != "" {
		g.tree.labels[id].made = g.site.cfg.NewPolicy(spec.Policy, spec.Options)
	}
	g.tree.pools[id].configured = true
	g.tree.labels[id].starter = spec.Starter
	g.tree.labels[id].factor, g.tree.labels[id].assoc = spec.Factor, spec.AssocFactor
	if id != int32(Root) {
		g.tree.labels[id].weight, g.tree.pools[id].Weight = spec.Weight, spec.Weight
	}
	if len(spec.Min)+len(spec.Max) > 0 || spec.MaxRunning > 0 || spec.JobRunning > 0 {
		g.tree.pools[id].limit = int32(len(g.tree.limited))
		g.tree.limited = append(g.tree.limited, g.tree.newLimit(spec, cmp.Or(g.tree.Path(PoolID(id)), "root")))
	}
	for i := range spec.Pools {
		g.apply(g.child(id, spec.Pools[i].Name, named), &spec.Pools[i])
	}
}

func (t *tree) newLimit(spec *share.Pool, path string) limit {
	least, most := t.site.cluster.Vector(spec.Min), t.site.cluster.Vector(spec.Max)
	l := limit{min: least, tasks: int32(spec.MaxRunning), jobRunning: int32(spec.JobRunning)}
	l.max = make([]int64, len(most))
	for r := range l.max {
		l.max[r] = -1
	}
	l.names = limitNames{"max_running of " + path, make([]string, len(most))}
	for name, n := range spec.Max {
		r := t.site.cluster.Number(name)
		l.max[r], l.names.max[r] = n, "max "+name+" of "+path
	}
	l.used = make([]int64, max(len(least), len(most)))
	l.wants = make([]int32, len(least))
	for r, n := range least {
		t.apart = t.apart || r > 0 && n > 0
	}
	return l
}

// inheritBelow sets the policies of all inner pools, parents first.
func (ord *orders) inheritBelow(id int32) {
	if ord.tree.pools[id].inner < 0 {
		return
	}
	ord.inherit(id)
	for _, kid := range ord.tree.inners[ord.tree.pools[id].inner].kids {
		ord.inheritBelow(kid)
	}
}

// refill recomputes the used part of all limits, and the number of tasks of one job that may run. All sub-queues may
// try again.
func (h *gates) refill() {
	for i := range h.running.runs {
		if r := &h.running.runs[i]; r.used {
			for id := r.pool; id >= 0; id = h.tree.pools[id].parent {
				if l := h.tree.limits(id); l != nil {
					l.add(h.site.cluster.Request(r.key), +1)
				}
			}
		}
	}
	h.queues.readyKeys.clear()
	h.noRoom.clear()
	h.quotas.setQuotas(&h.site.cfg)
	for _, k := range h.kinds {
		k.restart()
	}
	for i := range h.queues.all {
		q := &h.queues.all[i]
		q.ready, q.strict, q.ranked, q.max = 0, h.tree.strict(q.pool), h.tree.ranked(q.pool), h.tree.jobRunning(q.pool)
		if q.ordered() {
			q.heads.clear()
		}
		for k := range q.subs() {
			sub := q.sub(k)
			sub.gate, sub.full = h.overrides.openGate(q.pool), -1
			h.queues.count(q, int32(k), false)
		}
	}
	for b := range h.queues.begun {
		if j := &h.queues.begun[b]; h.queues.begunOf[j.id] == int32(b) && j.waiting+j.running > 0 {
			j.max = tighter(j.own, h.queues.all[j.at.queue].max)
			h.queues.change(j.at, func(*subQueue) { h.queues.reheap(int32(b)) })
		}
	}
}

// New returns a scheduler without nodes and jobs. The same events and seed give the same decisions.
func New(cfg Config, at time.Time, seed uint64) (*Scheduler, error) {
	cfg.Unit = cmp.Or(cfg.Unit, DefaultUnit)
	s := &Scheduler{}
	wire(s)
	s.gates.follow(FirstFit)
	s.choice.rng = *rand.NewPCG(seed, 0x9e3779b97f4a7c15)
	s.site.cluster = cluster.New(cfg.Unit)
	s.tree.index = map[childKey]int32{}
	s.queues.begunOf = map[int64]int32{}
	s.precedence.classOf = map[Factors]Class{}
	s.site.at, s.site.began = at, at
	s.site.clock = usage.NewClock(at, cfg.HalfLife)
	s.quotas.licenseOf = map[string]int32{}
	s.quotas.rateOf, s.quotas.userOf = map[string]int32{}, map[string]int32{}
	s.orders.places = make(places, inMainOrder)
	s.site.now = s.site.clock.At(at)
	s.site.setClock()
	s.growth.newPool(-1, "", named)
	s.tree.pools[Root].inner = 0
	s.tree.inners = append(s.tree.inners, newInner(int32(Root)))
	return s, s.Configure(cfg, at)
}
