package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// compareLicenses compares the number of held licenses, the running tasks of limited users, and the number of
// sub-queues that wait for rates.
func (a *recounter) compareLicenses() {
	s := a.s
	used, runs := make([]int64, len(s.quotas.licenses)), make([]int64, len(s.quotas.users)+1)
	for i := range s.running.runs {
		if r := &s.running.runs[i]; r.used {
			if t := s.quotas.needsOf(r.key); t != nil {
				runs[t.user]++
				for _, need := range t.licenses {
					used[need.license] += need.n
				}
			}
		}
	}
	for i := range s.quotas.licenses {
		a.equal(int32(Root), "held of the license "+s.quotas.licenses[i].name, s.quotas.licenses[i].used, used[i])
	}
	for i := range s.quotas.users {
		a.equal(int32(Root), s.quotas.users[i].of, s.quotas.users[i].used, runs[i+1])
	}
	rates, parked := s.gates.kinds[byRate-byMax].(*rateGate), int64(0)
	for range rates.noted() {
		parked++
	}
	a.equal(int32(Root), "sub-queues that wait for a rate", int64(rates.parked), parked)
}

// compareNodes compares the free resources of nodes with their running tasks, and with the room held for a gang or
// for a group of stopped tasks.
func (a *recounter) compareNodes() {
	s := a.s
	taken, tasks := make([]cluster.Vector, len(s.site.cluster.Nodes())), make([]int, len(s.site.cluster.Nodes()))
	take := func(node cluster.NodeID, key cluster.Key) {
		taken[node] = plus(taken[node], s.site.cluster.Request(key), 1)
		tasks[node]++
	}
	for i := range s.running.runs {
		if r := &s.running.runs[i]; r.used {
			take(r.node, r.key)
		}
	}
	for _, x := range s.departures.heldDown {
		for _, room := range x.held {
			take(room.node, room.key)
		}
	}
	for _, g := range s.departures.stops.together {
		for _, room := range g.held {
			take(room.node, room.key)
		}
	}
	free := int64(0)
	for i, n := range s.site.cluster.Nodes() {
		for r := range max(len(n.Capacity), len(taken[i])) {
			a.equal(int32(Root), s.site.cluster.Resource(r)+" taken on "+n.Name, at64(n.Capacity, r)-at64(n.Free, r),
				at64(taken[i], r))
		}
		a.equal(int32(Root), "tasks on "+n.Name, int64(n.Running), int64(tasks[i]))
		if n.State == cluster.Up {
			free += max(0, at64(n.Free, 0))
		}
	}
	a.equal(int32(Root), "free units", s.site.cluster.FreeUnits(), free)
}

// compareWeights compares the sums of the weights of siblings, and of loans.
func (a *recounter) compareWeights() {
	s := a.s
	for i := range s.tree.inners {
		in := &s.tree.inners[i]
		counted, open, loaned, drawn := 0.0, 0.0, 0.0, 0.0
		for _, kid := range in.kids {
			p := &s.tree.pools[kid]
			loaned += p.over
			if p.counts() {
				counted += p.Weight
			}
			if p.seat.in {
				open += p.Weight
			}
			if p.seat.in && in.as.weigher != nil {
				drawn += in.as.weigher.Weigh(p).Key
			}
		}
		a.same(in.id, "weights of the pools below", in.counted.value(), counted, counted)
		if in.as.weigher != nil {
			a.same(in.id, "weights that are drawn from", in.weights.total(), drawn, drawn)
		}
		if in.as.allot != nil {
			a.same(in.id, "weights with work", in.allotting.open.value(), open, open)
			a.same(in.id, "slots on loan", in.allotting.loaned.value(), loaned, 0)
		}
	}
}

// compareHoldings compares the holdings of children, in pools that have them.
func (a *recounter) compareHoldings() {
	s := a.s
	want := map[int32]cluster.Vector{} // by child
	for i := range s.running.runs {
		r := &s.running.runs[i]
		for id := r.pool; r.used && id > 0; id = s.tree.pools[id].parent {
			if s.tree.parentOf(id).held != nil {
				want[id] = plus(want[id], s.site.cluster.Request(r.key), 1)
			}
		}
	}
	for i := range s.tree.inners {
		h := s.tree.inners[i].held
		if h == nil {
			continue
		}
		for k, kid := range s.tree.inners[i].kids {
			var row []int64
			if k < len(h.turns) {
				row = h.row(k)
			}
			for r := range max(len(row), len(want[kid])) {
				a.equal(kid, s.site.cluster.Resource(r)+" held", at64(row, r), at64(want[kid], r))
			}
		}
	}
}

// compareParked checks that each sub-queue with a closed gate is on a list of sub-queues that will try again: a
// sub-queue on no list would wait forever.
func (a *recounter) compareParked() {
	s, on := a.s, map[subRef]uint64{}
	for _, refs := range s.gates.noRoom.of {
		for _, at := range refs {
			on[at] |= 1 << byFit
		}
	}
	for i, k := range s.gates.kinds {
		for at := range k.noted() {
			on[at] |= 1 << (int(byMax) + i)
		}
	}
	for i := range s.queues.all {
		q, lost := &s.queues.all[i], int64(0)
		for k := range q.subs() {
			switch sub := q.sub(k); sub.gate {
			case noGate:
			case byPause:
				if s.overrides.openGate(q.pool) != byPause {
					lost++
				}
			default:
				at := subRef{int32(i), int32(k)}
				if on[at]&(1<<sub.gate) == 0 ||
					sub.gate == byMax && !slices.Contains(s.tree.limits(sub.full).parked, at) {
					lost++
				}
			}
		}
		a.equal(q.pool, "sub-queues that nothing lets try again", lost, 0)
	}
}
