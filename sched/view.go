package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// View returns the state of a pool, to be read before the next event.
func (s *Scheduler) View(id PoolID) *Pool { return &s.pools[id] }

// Pools is how many pools there are; they are numbered from 0, the root.
func (s *Scheduler) Pools() int { return len(s.pools) }

// Parent returns the pool above; the root is its own.
func (s *Scheduler) Parent(id PoolID) PoolID { return PoolID(max(0, s.pools[id].parent)) }

// Children returns the pools below, in the order in which they were made.
func (s *Scheduler) Children(id PoolID) []PoolID {
	var ids []PoolID
	if in := s.pools[id].inner; in >= 0 {
		for _, kid := range s.inners[in].kids {
			ids = append(ids, PoolID(kid))
		}
	}
	return ids
}

// Name is the last segment of a pool's path, or the priority of a band.
func (s *Scheduler) Name(id PoolID) string { return s.labels[id].name }

// Band reports whether the pool is not in the tree of shares but holds the jobs of
// one priority of the leaf above it.
func (s *Scheduler) Band(id PoolID) bool { return s.labels[id].kind == band }

// Configured reports whether the configuration names the pool.
func (s *Scheduler) Configured(id PoolID) bool { return s.pools[id].configured }

// PolicyName is the name of the policy by which the pool divides.
func (s *Scheduler) PolicyName(id PoolID) string {
	at := int32(id)
	for s.labels[at].policy == "" && at != int32(Root) {
		at = s.pools[at].parent
	}
	return s.labels[at].policy
}

// Policy is the one by which the pool divides, nil for a leaf.
func (s *Scheduler) Policy(id PoolID) Policy {
	if in := s.pools[id].inner; in >= 0 {
		return s.inners[in].policy
	}
	return nil
}

// Eligible reports whether the pool has work that may start.
func (s *Scheduler) Eligible(id PoolID) bool {
	if id == Root {
		return s.inners[0].open > 0
	}
	return s.pools[id].in
}

// Limits is what a pool may have, and holds.
type Limits struct {
	Min, Max, Used   cluster.Amounts
	Tasks, JobTasks  int // at once, of the pool and of one of its jobs; 0 is no limit
	AtMaximumOfTasks bool
}

// Limits returns the limits of a pool, and whether it has any.
func (s *Scheduler) Limits(id PoolID) (Limits, bool) {
	l := s.limits(int32(id))
	if l == nil {
		return Limits{}, false
	}
	most := cluster.Amounts{}
	for r, n := range l.max {
		if n >= 0 {
			most[s.cluster.Resource(r)] = n
		}
	}
	return Limits{
		Min: s.cluster.Amounts(l.min), Max: most, Used: s.cluster.Amounts(l.used),
		Tasks: int(l.tasks), JobTasks: int(l.jobRunning),
		AtMaximumOfTasks: l.tasks > 0 && s.pools[id].Tasks >= l.tasks,
	}, true
}

// Advance moves the scheduler's time, so that what is read next is as of t.
func (s *Scheduler) Advance(t time.Time) { s.advance(t) }

// Instant is the instant of the last event.
func (s *Scheduler) Instant() time.Time { return s.at }

// Now is the instant of the last event in the units of the clock.
func (s *Scheduler) Now() usage.Now { return s.now }

// Clock gives the units of all amounts.
func (s *Scheduler) Clock() usage.Clock { return s.clock }

// Cluster is what there is to share; not to be changed.
func (s *Scheduler) Cluster() *cluster.Cluster { return s.cluster }

// Shape numbers a request.
func (s *Scheduler) Shape(a cluster.Amounts) cluster.Shape { return s.cluster.Shape(a) }

// GangOfRun is how many tasks start all at once with a running one, itself included: 1 if it
// started for itself.
func (s *Scheduler) GangOfRun(id RunID) int {
	n, _ := s.cluster.Gang(s.run(id).shape)
	return n
}

// Config is the configuration in force.
func (s *Scheduler) Config() Config { return s.cfg }

// Steps is how many steps there were.
func (s *Scheduler) Steps() uint64 { return s.steps }
