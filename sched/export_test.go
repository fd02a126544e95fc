package sched

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// Rebuild computes all orders from scratch, for tests that compare them with the orders that events update.
func (s *Scheduler) Rebuild() { s.turns.rebuild() }

// LookRarely makes sub-queues without room wait as long as on a large site before they look again.
func (s *Scheduler) LookRarely() { s.site.rarely = true }

// Check fails if some state that events update differs from the state that follows from the rest.
func (s *Scheduler) Check() error {
	for i := range s.tree.inners {
		if err := s.checkInner(&s.tree.inners[i]); err != nil {
			return err
		}
	}
	if all := s.Read().Recount(); len(all) > 0 {
		return fmt.Errorf("%v", all)
	}
	for id := range s.tree.pools {
		if err := s.checkPool(int32(id)); err != nil {
			return fmt.Errorf("pool %q: %w", s.tree.Path(PoolID(id)), err)
		}
	}
	return nil
}

func (s *Scheduler) checkInner(in *inner) error {
	open := 0
	for _, kid := range in.kids {
		if s.tree.pools[kid].seat.in {
			open++
		}
		if s.tree.pools[kid].seat.in != s.queues.open(kid) {
			return fmt.Errorf("pool %q: in %v, open %v", s.tree.Path(PoolID(kid)), s.tree.pools[kid].seat.in, s.queues.open(kid))
		}
	}
	if open != in.open || in.as.keyed != nil && in.keys.len() != open {
		return fmt.Errorf("open %d, counted %d, in heap %d", open, in.open, in.keys.len())
	}
	if err := s.checkRanks(in); err != nil {
		return err
	}
	for i := range in.keys.orders {
		if err := s.checkOrder(in, &in.keys.orders[i], 0); err != nil {
			return err
		}
	}
	return s.checkDominant(in)
}

// checkDominant compares the children in the orders of the dominant resources, from the second resource on, with the
// ready children.
func (s *Scheduler) checkDominant(in *inner) error {
	if in.deficits == nil || !s.orders.byMain() {
		return nil
	}
	for m := 1; m < len(s.orders.dominants.resources); m++ {
		want, k := 0, in.deficits.keysOf(int8(m))
		for _, kid := range in.kids {
			if p := &s.tree.pools[kid]; p.seat.in && int(p.seat.dominant) != m && s.orders.dominants.readyIn(kid, m) > 0 {
				want++
			}
		}
		if got := k.len(); got != want {
			return fmt.Errorf("pool %q: %d stand in main resource %d, want %d", s.tree.Path(PoolID(in.id)), got, m, want)
		}
		for i := range k.orders {
			if err := s.checkOrder(in, &k.orders[i], int8(m+1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRanks compares the orders by priority with what follows from the sub-queues.
func (s *Scheduler) checkRanks(in *inner) error {
	if !in.ranks {
		return nil
	}
	rising, full := 0, 0
	for _, kid := range in.kids {
		w := s.precedence.ranks.of[kid]
		if s.tree.pools[kid].seat.in {
			if !math.IsInf(w.rising.key, 1) {
				rising++
			}
			if !math.IsInf(w.full.key, 1) {
				full++
			}
		}
		if s.tree.pools[kid].seat.in {
			s.queues.rank(kid)
		}
		if again := s.precedence.ranks.of[kid]; again != w {
			return fmt.Errorf("pool %q stands as %+v, want %+v", s.tree.Path(PoolID(kid)), w, again)
		}
	}
	if rising != len(in.rising.entries) || full != len(in.full.entries) {
		return fmt.Errorf("%d and %d in the orders, want %d and %d", len(in.rising.entries), len(in.full.entries), rising, full)
	}
	for _, o := range []*order{&in.rising, &in.full} {
		for i, r := range o.entries {
			key := s.precedence.ranks.of[r.child].rising.key
			if o.by == inFullOrder {
				key = s.precedence.ranks.of[r.child].full.key
			}
			if r.key != key || s.orders.places[o.by][r.child] != int32(i) {
				return fmt.Errorf("pool %q: kept %v at %d, want %v at %d", s.tree.Path(PoolID(r.child)), r.key, i, key,
					s.orders.places[o.by][r.child])
			}
			if i > 0 && r.before(o.entries[(i-1)/arity]) {
				return fmt.Errorf("heap of priorities out of order at %d", i)
			}
		}
	}
	return nil
}

func (s *Scheduler) checkOrder(in *inner, o *order, main int8) error {
	at := s.orders.setting(in)
	at.main = main
	for i, r := range o.entries {
		if s.orders.places[o.by][r.child] != int32(i) {
			return fmt.Errorf("place of %d is %d, want %d", r.child, s.orders.places[o.by][r.child], i)
		}
		if i > 0 && r.before(o.entries[(i-1)/arity]) {
			return fmt.Errorf("heap out of order at %d", i)
		}
		t := in.as.keyed.Terms(&s.tree.pools[r.child], at)
		if key := in.ranked(&t); r.key > key+1e-9*max(1, math.Abs(key)) {
			return fmt.Errorf("pool %q: key kept %v is no lower bound of %v", s.tree.Path(PoolID(r.child)), r.key, key)
		}
	}
	return nil
}

func (s *Scheduler) checkPool(id int32) error {
	p := &s.tree.pools[id]
	if p.inner < 0 {
		waiting := int64(0)
		if p.queue >= 0 {
			for i := range s.queues.all[p.queue].subs() {
				waiting += s.queues.all[p.queue].sub(i).tasks
			}
		}
		if waiting != p.Waiting {
			return fmt.Errorf("waiting %d, counted %d", waiting, p.Waiting)
		}
		return nil
	}
	waiting, tasks := int64(0), int32(0)
	for _, kid := range s.tree.inners[p.inner].kids {
		waiting += s.tree.pools[kid].Waiting
		tasks += s.tree.pools[kid].Tasks
	}
	if waiting != p.Waiting {
		return fmt.Errorf("waiting %d, children %d", p.Waiting, waiting)
	}
	if tasks > p.Tasks { // tasks from before it had children are its own
		return fmt.Errorf("running %d, children %d", p.Tasks, tasks)
	}
	return nil
}

// Queues returns the number of pools for which tasks in the queues of nodes are counted.
func (s *Scheduler) Queues() int { return len(s.tree.queued) }

// StopTogether stops tasks as policies and reclaim do.
func (s *Scheduler) StopTogether(ids []RunID, rule StopRule, d *Decision) {
	s.departures.stopTogether(ids, slices.Repeat([]stopReason{{Rule: rule}}, len(ids)), d)
}

// PartsLeft returns the parts that pools keep when tasks are stopped.
func (s *Scheduler) PartsLeft() []Entitlement { return s.reclaimer.partsLeft(s.tree.reclaimSettings()) }

// Stoppable reports whether a task may be stopped now.
func (s *Scheduler) Stoppable(id RunID) bool { return s.departures.stoppable(s.running.run(id)) }

// Debt is the lag of a child in one resource.
type Debt struct {
	Child                          PoolID
	Resource                       string
	Received, Ideal, Rate, Running float64
}

// Debts lists the lags of the children of a pool, by resource, without resources that nobody asked for.
func (s *Scheduler) Debts(parent PoolID) (all []Debt) {
	in := &s.tree.inners[s.tree.pools[parent].inner]
	for m, d := range in.deficits.of {
		d.Advance(s.site.seconds())
		for kid, id := range in.kids {
			o := Debt{PoolID(id), s.site.cluster.Resource(s.orders.dominants.resources[m]), d.Received(kid), d.Ideal(kid),
				d.Rate(kid), d.Running(kid)}
			if o.Ideal != 0 || o.Rate != 0 || o.Received != 0 {
				all = append(all, o)
			}
		}
	}
	return all
}

// Claimants are the children of a pool as its allotter sees them.
func (s *Scheduler) Claimants(parent PoolID) []Claimant {
	in := &s.tree.inners[s.tree.pools[parent].inner]
	s.choice.retarget(in)
	return s.tree.classes(in)
}

// Behind counts the jobs and tasks of the same leaf that go before the job.
func (s *Scheduler) Behind(j Job) (jobs int, tasks int64) {
	leaf := s.growth.Leaf(j)
	q := s.tree.pools[leaf].queue
	if q < 0 {
		return 0, 0
	}
	if s.queues.all[q].ranked {
		return s.Explain().behindByRank(int32(leaf), &j)
	}
	for i := range s.queues.all[q].subs() {
		sub := s.queues.all[q].sub(i)
		n, t := sub.fresh.before(j.ID)
		jobs, tasks = jobs+n, tasks+t
		for _, b := range sub.begun {
			if s.queues.begun[b].id < j.ID {
				jobs, tasks = jobs+1, tasks+int64(s.queues.begun[b].waiting)
			}
		}
	}
	return jobs, tasks
}

// Eligible reports whether the pool has work that may start.
func (s *Scheduler) Eligible(id PoolID) bool {
	if id == Root {
		return s.tree.inners[0].open > 0
	}
	return s.tree.pools[id].seat.in
}

// Price is what a task with the key would be charged each second if it started now.
func (s *Scheduler) Price(key cluster.Key) float64 { return s.tariff.price(key) }

// Reservations returns the planned starts of the last step: of the first job without room, under
// [EASY], or of all such jobs, under [Conservative], in order.
func (s *Scheduler) Reservations() iter.Seq[Reservation] {
	return func(yield func(Reservation) bool) {
		for r := range s.Read().keptRoom() {
			x := Reservation{r.job, PoolID(s.queues.all[r.at.queue].pool), r.nodes, time.Unix(0, r.from),
				time.Unix(0, r.to), r.held}
			if !yield(x) {
				return
			}
		}
	}
}

// Reservation is room that is planned for a task, or a gang, from an instant on.
type Reservation struct {
	Job      int64
	Pool     PoolID           // the leaf in which it waits
	Nodes    []cluster.NodeID // one for each task; not to be changed
	From, To time.Time
	Held     bool // for a job that has waited for too long
}

// before counts the jobs and tasks before id.
func (f *fifo) before(id int64) (jobs int, tasks int64) {
	end, at, _ := f.find(id)
	for ci := 0; ci <= end && ci < f.chunks(); ci++ {
		e := f.chunk(ci).entries
		if ci == end {
			e = e[:at]
		}
		if ci == 0 {
			e = e[f.head:]
		}
		jobs += len(e)
		for i := range e {
			tasks += int64(e[i].tasks)
		}
	}
	return jobs, tasks
}

// SeedDay counts service that ended tasks of a leaf received on the day of an instant.
func (m Memory) SeedDay(leaf PoolID, amount float64, day time.Time) { m.seedDay(leaf, amount, day) }

// DaysOf returns the service of a pool by days.
func (s *Scheduler) DaysOf(id PoolID) *usage.Days { return s.tree.daysOf(s.View(id)) }
