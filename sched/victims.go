package sched

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
)

// piece is stopped as a whole: one task, or all running tasks of a gang.
type piece struct {
	job     int64
	runs    []RunID
	elapsed time.Duration // of its longest-running task
	lost    float64       // slot-seconds
	over    float64       // units that its leaf pool runs above its entitlement
	fixed   bool          // must not be stopped
}

// planner chooses the tasks to stop at one time. It plans on a copy of the scheduler in which all leaving tasks
// have ended: the tasks that the copy starts next will use the room.
type planner struct {
	s        *Scheduler
	world    *Scheduler // the copy; nil: must be made
	d        *Decision
	settings []share.Reclaim
	entitled []Entitlement
	fair     []Entitlement  // the same if no task were protected; nil if no task is
	stopped  map[int64]bool // jobs that lost a task in this round
	leaving  amounts        // resources of leaving tasks
	pieces   []piece        // candidates, the best first
	onNode   [][]int32      // indices into pieces, by node
	planned  int
	gang     gangRoom
	full     fullness
	order    Choose                // which tasks to stop first
	gives    func(pool int32) bool // reports whether tasks of a leaf pool may be stopped; nil: all
}

// gangRoom is the room made for a gang, task by task.
type gangRoom struct {
	spent map[int32]bool          // pieces already stopped for it
	hosts map[cluster.NodeID]bool // nodes that take no further task of the gang
	taken amounts                 // freed by the pieces
}

func (x *piece) add(s *Scheduler, i int) {
	r := &s.running.runs[i]
	elapsed := s.site.at.Sub(s.site.startOf(r))
	x.runs = append(x.runs, r.id(i))
	x.elapsed = max(x.elapsed, elapsed)
	x.lost += s.site.cluster.Width(r.key) * elapsed.Seconds()
	x.fixed = x.fixed || !s.departures.stoppable(r)
}

// compare orders pieces, the first to stop in front: by the rule of choice, then by how far the pool is above its
// part, then the later job first.
func (x *piece) compare(y *piece, c Choose) int {
	by := cmp.Compare(x.elapsed, y.elapsed)
	if c == Cheapest {
		by = cmp.Compare(x.lost, y.lost)
	}
	return cmp.Or(by, cmp.Compare(y.over, x.over), cmp.Compare(y.job, x.job), cmp.Compare(y.runs[0], x.runs[0]))
}

// choose returns the tasks to stop so that a task with this request fits on some node, or all tasks of a gang on
// several; nil if there are none.
func (p *planner) choose(starving int32, next ask) []RunID {
	p.full = fullAbove(p.world, starving, next)
	for _, strict := range []bool{true, false} {
		if p.s.site.gangOf(next.key) > 0 {
			if all := p.chooseForGang(starving, next, strict); all != nil {
				return all
			}
		} else if best := p.best(starving, next, strict); best != nil {
			return best.runs()
		}
	}
	return nil
}

// best returns the pieces to stop for one task, on the best node by the rule of choice; nil if there is none.
func (p *planner) best(starving int32, next ask, strict bool) *sacrifice {
	var best *sacrifice
	for n := range p.world.site.cluster.Nodes() {
		if x := p.onOne(cluster.NodeID(n), starving, next, strict); x != nil && (best == nil || x.better(best, p.order)) {
			best = x
		}
	}
	return best
}

// sacrifice is a set of pieces on one node, and the room that they leave.
type sacrifice struct {
	p        *planner
	starving int32
	strict   bool // pools below the giving pool keep their exact parts, too
	node     cluster.NodeID
	lack     []int64 // amounts that the request still lacks on the node
	pieces   []*piece
	numbers  []int32 // indices of pieces in planner.pieces
	taken    amounts // freed by the pieces
}

// amounts are amounts by pool and resource.
type amounts map[int32][]int64

// count adds a task to its pools, or removes it.
func (a amounts) count(s *Scheduler, r *run, sign int64) {
	request := s.site.cluster.Request(r.key)
	for at := r.pool; at >= 0; at = s.tree.pools[at].parent {
		sum := a[at]
		for len(sum) < len(request) {
			sum = append(sum, 0)
		}
		for k, n := range request {
			sum[k] += sign * n
		}
		a[at] = sum
	}
}

func (a amounts) clone() amounts {
	b := amounts{}
	for id, sum := range a {
		b[id] = slices.Clone(sum)
	}
	return b
}

func (a amounts) of(pool int32, resource int) int64 {
	if sum := a[pool]; resource < len(sum) {
		return sum[resource]
	}
	return 0
}

// onOne chooses pieces on one node, nil if they do not suffice there.
func (p *planner) onOne(n cluster.NodeID, starving int32, next ask, strict bool) *sacrifice {
	node, request := &p.world.site.cluster.Nodes()[n], p.world.site.cluster.Request(next.key)
	if !p.world.site.cluster.Empty().Suits(n, next.key) || !p.world.site.mayUse([]cluster.NodeID{n}, next.key,
		next.limit) ||
		int(n) >= len(p.onNode) || p.gang.hosts[n] {
		return nil
	}
	x := &sacrifice{p: p, starving: starving, strict: strict, node: n, lack: slices.Clone(request), taken: p.gang.taken.clone()}
	for r := range x.lack {
		if r < len(node.Free) {
			x.lack[r] -= node.Free[r]
		}
	}
	for _, i := range p.onNode[n] {
		if x.enough() {
			break
		}
		if y := &p.pieces[i]; !p.gang.spent[i] && x.helps(y) && x.may(y) {
			x.count(y, +1)
			x.pieces, x.numbers = append(x.pieces, y), append(x.numbers, i)
		}
	}
	if !x.enough() || len(x.pieces) == 0 {
		return nil
	}
	x.prune()
	return x
}

// giver is the pool that gives the room of a leaf pool to a starving pool. Of the pools at or above the leaf pool, it
// is the child of the lowest pool that contains both.
func (p *planner) giver(leaf, starving int32) int32 {
	at := leaf
	for !p.s.tree.within(starving, p.s.tree.pools[at].parent) {
		at = p.s.tree.pools[at].parent
	}
	return at
}

// chooseForGang returns the tasks to stop so that all tasks of a gang fit, or nil if it finds none. For each task of
// the gang it takes a node with room. If there is none, it stops tasks on the best node. It leaves the nodes of the
// world unchanged.
func (p *planner) chooseForGang(starving int32, next ask, strict bool) (chosen []RunID) {
	nodes, key := p.world.site.cluster, next.key
	single := nodes.KeyOf(cluster.Ask{Amounts: nodes.Amounts(nodes.Request(key)), Must: nodes.Must(key), Window: nodes.Window(key)})
	n, spread := nodes.Gang(key)
	type room struct {
		node cluster.NodeID
		key  cluster.Key
	}
	var given, taken []room
	p.gang = gangRoom{map[int32]bool{}, map[cluster.NodeID]bool{}, amounts{}}
	defer func() {
		for _, r := range taken {
			nodes.Give(r.node, r.key)
		}
		for _, r := range given {
			nodes.Take(r.node, r.key)
		}
		p.gang = gangRoom{}
	}()
	for range n {
		node, found := nodes.PlaceOn(single, func(id cluster.NodeID) bool {
			return !p.gang.hosts[id] && p.world.site.mayUse([]cluster.NodeID{id}, key, next.limit)
		})
		if !found {
			x := p.best(starving, next, strict)
			if x == nil {
				return nil
			}
			for _, id := range x.runs() {
				r := p.world.running.run(id)
				nodes.Give(r.node, r.key)
				given = append(given, room{r.node, r.key})
				chosen = append(chosen, id)
			}
			for _, i := range x.numbers {
				p.gang.spent[i] = true
			}
			node, p.gang.taken = x.node, x.taken
		}
		nodes.Take(node, key)
		taken = append(taken, room{node, key})
		p.gang.hosts[node] = spread
	}
	if p.full.left(p.gang.taken, len(chosen)) {
		return nil
	}
	return chosen
}

// enough reports whether the node has room and no pool above is at its maximum any more. For a gang the maximum is
// checked as a whole, see chooseForGang.
func (x *sacrifice) enough() bool {
	return !slices.ContainsFunc(x.lack, func(n int64) bool { return n > 0 }) &&
		(x.p.gang.hosts != nil || !x.p.full.left(x.taken, x.tasks()))
}

// helps reports whether a piece frees a resource that the node lacks, or room under a maximum.
func (x *sacrifice) helps(y *piece) bool {
	if x.p.gang.hosts == nil && x.p.full.left(x.taken, x.tasks()) {
		return true
	}
	for _, id := range y.runs {
		r := x.p.s.running.run(id)
		if r.node != x.node {
			continue
		}
		for k, n := range x.p.s.site.cluster.Request(r.key) {
			if n > 0 && k < len(x.lack) && x.lack[k] > 0 {
				return true
			}
		}
	}
	return false
}

// may reports whether a piece may be stopped together with the pieces chosen so far: it still runs in the world,
// and its pools keep their parts.
func (x *sacrifice) may(y *piece) bool {
	p := x.p
	if !p.s.departures.stops.safe[y.job].IsZero() && p.s.departures.stops.safe[y.job].After(p.s.site.at) &&
		!p.stopped[y.job] {
		return false
	}
	for _, id := range y.runs {
		r := &p.world.running.runs[uint32(id)]
		if !r.used || r.id(int(uint32(id))) != id || p.s.tree.within(r.pool, x.starving) ||
			p.full.pool >= 0 && !p.s.tree.within(r.pool, p.full.pool) {
			return false
		}
	}
	x.count(y, +1)
	defer x.count(y, -1)
	for _, id := range y.runs {
		pool := p.s.running.run(id).pool
		from := p.giver(pool, x.starving)
		for at := pool; ; at = p.s.tree.pools[at].parent {
			if p.s.tree.labels[at].kind == named && !x.keeps(at, x.strict || at == from) {
				return false
			}
			if at == from {
				break
			}
		}
	}
	return true
}

// keeps reports whether a pool keeps its entitlement, or the whole units of it, and its minimum. It compares the
// lesser of two amounts: the units that the pool runs in the world, and the units that it runs now without leaving
// tasks.
func (x *sacrifice) keeps(id int32, strict bool) bool {
	p, w, part := x.p, x.p.world, x.p.entitled[id].Now
	if !strict {
		part = math.Floor(part + rounding)
	}
	stays := math.Min(w.tree.pools[id].Running, p.s.tree.pools[id].Running-float64(p.leaving.of(id, 0)))
	if stays-float64(x.taken.of(id, 0)) < part-rounding {
		return false
	}
	l, now := w.tree.limits(id), p.s.tree.limits(id)
	if l == nil {
		return true
	}
	for r, least := range l.min {
		stays := min(l.used[r], now.used[r]-p.leaving.of(id, r))
		if taken := x.taken.of(id, r); taken > 0 && stays-taken < least {
			return false
		}
	}
	return true
}

// count adds a piece to the sacrifice, or removes it.
func (x *sacrifice) count(y *piece, sign int64) {
	s := x.p.s
	for _, id := range y.runs {
		r := s.running.run(id)
		request := s.site.cluster.Request(r.key)
		if r.node == x.node {
			for k := range x.lack {
				if k < len(request) {
					x.lack[k] -= sign * request[k]
				}
			}
		}
		x.taken.count(s, r, sign)
	}
}

// prune removes pieces that are not needed: a wide task chosen last may make earlier, narrow ones superfluous.
func (x *sacrifice) prune() {
	for i := 0; i < len(x.pieces); {
		y, number := x.pieces[i], x.numbers[i]
		x.count(y, -1)
		x.pieces, x.numbers = slices.Delete(x.pieces, i, i+1), slices.Delete(x.numbers, i, i+1)
		if x.enough() {
			continue
		}
		x.count(y, +1)
		x.pieces, x.numbers = slices.Insert(x.pieces, i, y), slices.Insert(x.numbers, i, number)
		i++
	}
}

// better compares two nodes by the rule of choice.
func (x *sacrifice) better(y *sacrifice, c Choose) bool {
	elapsedX, lostX := x.price()
	elapsedY, lostY := y.price()
	if c == Cheapest {
		return lostX < lostY || lostX == lostY && elapsedX < elapsedY
	}
	return elapsedX < elapsedY || elapsedX == elapsedY && lostX < lostY
}

func (x *sacrifice) price() (elapsed time.Duration, lost float64) {
	for _, y := range x.pieces {
		elapsed, lost = max(elapsed, y.elapsed), lost+y.lost
	}
	return elapsed, lost
}

func (x *sacrifice) tasks() (n int) {
	for _, y := range x.pieces {
		n += len(y.runs)
	}
	return n
}

func (x *sacrifice) runs() (all []RunID) {
	for _, y := range x.pieces {
		all = append(all, y.runs...)
	}
	return all
}
