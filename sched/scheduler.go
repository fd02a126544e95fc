package sched

import "github.com/fairlead/fairlead/cluster"

// Scheduler is the state of a scheduler; see the package comment.
type Scheduler struct {
	intake intake

	departures departures

	placement placement

	choice choice

	gates gates

	reserve reserve

	quotas quotas

	growth growth

	overrides overrides

	turns turns

	running running

	queues queues

	orders orders

	precedence precedence

	tree tree

	tariff tariff

	site site

	rebalancer rebalancer

	reclaimer reclaimer

	shown shownFirst
}

// shownFirst holds a copy of a scheduler for readers, in which the first job has a planned start. The field "at" is
// the instant at which the copy was made.
type shownFirst struct {
	at moment
	in *Scheduler
}

// The following methods belong to parts of a scheduler; callers use them on the scheduler.

// Path is the pool's path; the root's is empty. A priority class has the path of its leaf pool.
func (s *Scheduler) Path(id PoolID) string { return s.tree.Path(id) }

// Lookup returns the number of the pool at path, if there is one.
func (s *Scheduler) Lookup(path string) (PoolID, bool) { return s.tree.Lookup(path) }

// Class returns the number of the factors, for [Job.Class].
func (s *Scheduler) Class(t Factors) Class { return s.precedence.Class(t) }

// Pool returns the pool at path, and creates it with weight 1 if it does not exist. Only leaf pools hold jobs: for
// a path with children it returns the child path/default.
func (s *Scheduler) Pool(path string) PoolID { return s.growth.Pool(path) }

// Leaf returns the pool that holds a job, or would hold it, priority classes included. It creates none.
func (s *Scheduler) Leaf(j Job) PoolID { return s.growth.Leaf(j) }

// KeyOf returns the key of a request. Tasks with different licenses or rates have different keys, so that they wait
// in different sub-queues and do not delay each other.
func (s *Scheduler) KeyOf(r Request) cluster.Key { return s.quotas.number(r) }

// wire gives each part of a scheduler the parts that it depends on, and no others.
func wire(s *Scheduler) {
	wirePools(s)
	wireStarts(s)
	wireStops(s)
}

// wirePools wires the pools and their orders.
func wirePools(s *Scheduler) {
	s.tariff.site = &s.site
	s.tree.site = &s.site
	s.precedence.site = &s.site
	s.precedence.tree = &s.tree
	s.orders.site = &s.site
	s.orders.tariff = &s.tariff
	s.orders.tree = &s.tree
	s.orders.precedence = &s.precedence
	s.queues.site = &s.site
	s.queues.tree = &s.tree
	s.queues.precedence = &s.precedence
	s.queues.orders = &s.orders
	s.running.site = &s.site
	s.running.tariff = &s.tariff
	s.running.tree = &s.tree
	s.running.orders = &s.orders
	s.running.queues = &s.queues
	s.turns.site = &s.site
	s.turns.tariff = &s.tariff
	s.turns.tree = &s.tree
	s.turns.precedence = &s.precedence
	s.turns.orders = &s.orders
	s.turns.queues = &s.queues
	s.turns.running = &s.running
	s.overrides.site = &s.site
	s.overrides.tree = &s.tree
	s.overrides.orders = &s.orders
	s.overrides.turns = &s.turns
}

// wireStops wires the parts that choose tasks to stop.
func wireStops(s *Scheduler) {
	s.reclaimer.site = &s.site
	s.reclaimer.tree = &s.tree
	s.reclaimer.queues = &s.queues
	s.reclaimer.running = &s.running
	s.reclaimer.departures = &s.departures
	s.rebalancer.site = &s.site
	s.rebalancer.tree = &s.tree
	s.rebalancer.queues = &s.queues
	s.rebalancer.running = &s.running
	s.rebalancer.choice = &s.choice
}

// wireStarts wires the parts that start and end tasks.
func wireStarts(s *Scheduler) {
	s.growth.site = &s.site
	s.growth.tree = &s.tree
	s.growth.precedence = &s.precedence
	s.growth.orders = &s.orders
	s.growth.queues = &s.queues
	s.growth.turns = &s.turns
	s.growth.overrides = &s.overrides
	s.quotas.site = &s.site
	s.quotas.queues = &s.queues
	s.reserve.site = &s.site
	s.reserve.queues = &s.queues
	s.reserve.running = &s.running
	s.reserve.growth = &s.growth
	s.reserve.quotas = &s.quotas
	s.reserve.tree = &s.tree
	s.reserve.tariff = &s.tariff
	s.gates.site = &s.site
	s.gates.tree = &s.tree
	s.gates.orders = &s.orders
	s.gates.queues = &s.queues
	s.gates.turns = &s.turns
	s.gates.overrides = &s.overrides
	s.gates.quotas = &s.quotas
	s.gates.reserve = &s.reserve
	s.gates.running = &s.running
	s.gates.setKinds(newKinds(&s.gates)...)
	s.choice.site = &s.site
	s.choice.tree = &s.tree
	s.choice.precedence = &s.precedence
	s.choice.orders = &s.orders
	s.choice.queues = &s.queues
	s.placement.site = &s.site
	s.placement.tree = &s.tree
	s.placement.orders = &s.orders
	s.placement.queues = &s.queues
	s.placement.running = &s.running
	s.placement.turns = &s.turns
	s.placement.overrides = &s.overrides
	s.placement.quotas = &s.quotas
	s.placement.reserve = &s.reserve
	s.placement.gates = &s.gates
	s.placement.choice = &s.choice
	s.placement.tariff = &s.tariff
	s.departures.site = &s.site
	s.departures.tree = &s.tree
	s.departures.orders = &s.orders
	s.departures.queues = &s.queues
	s.departures.running = &s.running
	s.departures.turns = &s.turns
	s.departures.overrides = &s.overrides
	s.departures.quotas = &s.quotas
	s.departures.reserve = &s.reserve
	s.departures.gates = &s.gates
	s.intake.site = &s.site
	s.intake.tree = &s.tree
	s.intake.orders = &s.orders
	s.intake.queues = &s.queues
	s.intake.running = &s.running
	s.intake.turns = &s.turns
	s.intake.quotas = &s.quotas
	s.intake.reserve = &s.reserve
	s.intake.growth = &s.growth
}
