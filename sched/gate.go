package sched

import (
	"iter"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// gateKind is one reason for which jobs wait although a node has room: a maximum, a window, a license, a rate, a
// pause. To add one, write a file with its type, give it a number after the others (see [gate]), and add it to
// newKinds. Types that embed openKind have only the methods that they need; they never sleep. A new reason also needs a
// code in why/codes.go with a place in severity (internal/explain/gates.go). The present instant is site.at.
type gateKind interface {
	// holds reports whether the next tasks of a sub-queue may not start yet. If so, the kind notes the sub-queue, and
	// lets it try again (see gates.returning) as soon as the tasks might start. The result "pool" is the pool whose
	// gate holds the tasks. The pools below it compete for the room that this pool leaves, and want the tasks. The
	// result is -1 if no pool wants the tasks in the meantime.
	holds(leaf int32, at subRef) (pool int32, held bool)
	// sleeps reports whether the kind can hold no job at present, because nothing of its kind is configured or
	// requested. A step does not ask such a kind.
	sleeps() bool
	// noted yields the sub-queues that the method "holds" has noted.
	noted() iter.Seq[subRef]
	// restart forgets the noted sub-queues: after a change of the configuration all sub-queues try again.
	restart()
	// The method ofPool describes the gates, closed or open, that tasks with a key meet in a pool; there the key may be
	// noKey. The method ofKey describes the gates that tasks with a key meet everywhere.
	ofPool(id int32, key cluster.Key) []why.Gate
	ofKey(key cluster.Key) []why.Gate
	// fork returns this kind for a copy of the scheduler. The argument h has the gates of the copy.
	fork(h *gates) gateKind
}

// A clockKind is a kind of gate that time may open. The gate opens at the first event after the instant that next
// returns.
type clockKind interface {
	// The method passed lets sub-queues try again because time has passed. The method next returns the next instant at
	// which that may happen, or zero.
	passed()
	next() (at time.Time, may bool)
}

// An endKind is a kind of gate that the end of a task may open.
type endKind interface {
	// ended lets sub-queues try again after a task with a key has ended in a leaf pool.
	ended(leaf int32, key cluster.Key)
}

// A countKind is a kind of gate whose numbers are part of the evidence of the order. From these numbers, replay finds
// by itself which jobs the gate holds back, even after some have started. The evidence leaves out the jobs that any
// other kind of gate holds back. So does a preview: nothing ends and no time passes there, so a closed gate stays
// closed.
type countKind interface {
	counted()
}

// noKey stands for an empty request.
const noKey = cluster.Key(-1)

// openKind is a kind of gate that holds nothing.
type openKind struct{}

func (openKind) holds(int32, subRef) (int32, bool)    { return -1, false }
func (openKind) sleeps() bool                         { return false }
func (openKind) noted() iter.Seq[subRef]              { return func(func(subRef) bool) {} }
func (openKind) restart()                             {}
func (openKind) ofPool(int32, cluster.Key) []why.Gate { return nil }
func (openKind) ofKey(cluster.Key) []why.Gate         { return nil }

// placer is the part of a backfill rule that the gates need.
type placer interface {
	// node finds a node for the next task of a sub-queue. The argument job is the job at the head of that sub-queue.
	// The windows must let the task run there up to its time limit (site.mayUse), and a gang needs all its nodes.
	// reserve.find ensures both.
	node(h *gates, at subRef, job int64) (cluster.NodeID, bool)
	// reopen lets sub-queues without room try again after room has become free.
	reopen(h *gates)
}

// gates hold sub-queues back until something opens them: room, or one of the kinds.
type gates struct {
	site      *site
	tree      *tree
	orders    *orders
	queues    *queues
	turns     *turns
	overrides *overrides
	quotas    *quotas
	reserve   *reserve
	running   *running

	placer placer      // by the backfill rule
	kinds  []gateKind  // the kind of gate number byMax+i at i
	able   []gate      // the numbers of the kinds that may be awake
	awake  []gate      // the numbers of the kinds that do not sleep in this step
	clocks []clockKind // the kinds among them that time opens
	ends   []endKind   // the kinds among them that the end of a task opens
	noRoom roomWaiters // sub-queues that wait for room on some node
}

// setKinds sets the kinds of gates.
func (h *gates) setKinds(kinds ...gateKind) {
	h.kinds, h.able, h.awake, h.clocks, h.ends = kinds, nil, nil, nil, nil
	for i, k := range kinds {
		if g := byMax + gate(i); g != byPause && g != byAway {
			h.able = append(h.able, g)
		}
		h.awake = append(h.awake, byMax+gate(i))
		if c, yes := k.(clockKind); yes {
			h.clocks = append(h.clocks, c)
		}
		if e, yes := k.(endKind); yes {
			h.ends = append(h.ends, e)
		}
	}
}

// wake finds out which kinds sleep, for the step that begins.
func (h *gates) wake() {
	h.awake = h.awake[:0]
	for _, g := range h.able {
		if !h.kinds[g-byMax].sleeps() {
			h.awake = append(h.awake, g)
		}
	}
}

// use makes the gates follow a backfill rule.
func (h *gates) use(rule placer, plans planning, strict bool) {
	h.placer, h.site.plans, h.site.strict = rule, plans, strict
}

// admit finds a node for the job at the head of a sub-queue. If no node has room for the sub-queue, or a maximum,
// license or rate holds it back, admit parks it until that may have changed.
func (h *gates) admit(leaf int32, at subRef, job int64) (cluster.NodeID, bool) {
	if !h.passes(leaf, at) {
		return 0, false
	}
	node, fits := h.placer.node(h, at, job)
	if !fits && !h.site.strict {
		h.parkNoRoom(leaf, at)
	}
	return node, fits
}

// parkNoRoom parks a sub-queue that fits on no node.
func (h *gates) parkNoRoom(leaf int32, at subRef) {
	h.noRoom.add(h.queues.sub(at).key, at)
	h.park(leaf, at, byFit)
}

// passes reports whether no gate other than lack of room holds a sub-queue back. If one does, it parks the sub-queue.
func (h *gates) passes(leaf int32, at subRef) bool {
	for _, g := range h.awake {
		if h.holds(g, leaf, at) {
			return false
		}
	}
	return true
}

// holds reports whether a gate holds a sub-queue back, and parks the sub-queue if so.
func (h *gates) holds(g gate, leaf int32, at subRef) bool {
	pool, held := h.kinds[g-byMax].holds(leaf, at)
	if held {
		h.putGate(at, g, pool)
		h.regated(leaf)
	}
	return held
}

// ended lets sub-queues try again after a task with a key has ended in a leaf pool.
func (h *gates) ended(leaf int32, key cluster.Key) {
	for _, k := range h.ends {
		k.ended(leaf, key)
	}
}

// passed lets sub-queues try again because time has passed.
func (h *gates) passed() {
	for _, k := range h.clocks {
		k.passed()
	}
}

// next is the next instant at which time alone may let sub-queues try again; zero if there is none.
func (h *gates) next() (next time.Time) {
	for _, k := range h.clocks {
		if at, may := k.next(); may {
			next = earlier(next, at)
		}
	}
	return next
}

func (h *gates) park(leaf int32, at subRef, g gate) {
	h.setGate(at, g)
	h.regated(leaf)
}

// regated updates the place of a leaf pool after the gate of a sub-queue changed. A leaf pool that is compared by its
// account only, and has other ready sub-queues, keeps its place.
func (h *gates) regated(leaf int32) {
	if p := &h.tree.pools[leaf]; p.seat.in && h.queues.all[p.queue].ready > 0 && h.orders.byAccount(leaf) {
		return
	}
	h.turns.settle(leaf)
}

// byAccount reports whether a leaf pool keeps its place whichever of its jobs find room.
func (ord *orders) byAccount(leaf int32) bool {
	in := ord.tree.parentOf(leaf)
	return in.as.keyed != nil && in.as.allot == nil && !in.first && !in.ranks && !ord.byResource()
}

// againFirst reports whether a chosen leaf pool would be chosen again for another sub-queue, after one of its
// sub-queues found no room.
func (ord *orders) againFirst(leaf int32) bool {
	if !ord.byAccount(leaf) {
		return false
	}
	for id := leaf; id != int32(Root); id = ord.tree.pools[id].parent {
		if in := ord.tree.parentOf(id); in.as.keyed == nil || in.as.allot != nil || len(in.belowMin) > 0 {
			return false
		}
	}
	return true
}

// setGate sets the gate of a sub-queue, to any gate that is not the gate of a pool, or to none.
func (h *gates) setGate(at subRef, g gate) {
	if g == noGate {
		g = h.overrides.openGate(h.queues.all[at.queue].pool)
	}
	h.putGate(at, g, -1)
}

func (h *gates) putGate(at subRef, g gate, full int32) {
	q := &h.queues.all[at.queue]
	sub := q.sub(int(at.sub))
	bar, was := q.bar(sub), sub.ready()
	sub.gate, sub.full = g, full
	h.queues.count(q, at.sub, was)
	if q.bar(sub) != bar {
		h.queues.rebar(at, bar)
	}
}

// unpark lets parked sub-queues try again.
func (h *gates) unpark(parked *[]subRef) {
	refs := *parked
	*parked = nil
	h.reserve.backfill.keep.relist = h.reserve.backfill.keep.relist || len(refs) > 0
	if len(refs) > 0 {
		h.site.events++
	}
	for _, at := range refs {
		h.setGate(at, noGate)
		h.regated(h.queues.all[at.queue].pool)
	}
}

// parkRoomless parks all sub-queues of a leaf pool without room, if no other gate could hold them back.
func (h *gates) parkRoomless(leaf int32) {
	for id := leaf; id >= 0; id = h.tree.pools[id].parent {
		if h.tree.limits(id) != nil {
			return
		}
	}
	n := h.tree.pools[leaf].queue
	q := &h.queues.all[n]
	for i, left := 0, q.ready; left > 0; i++ {
		sub := q.sub(i)
		if !sub.ready() {
			continue
		}
		if left--; h.quotas.needsOf(sub.key) == nil && !h.site.cluster.Room(sub.key) {
			at := subRef{n, int32(i)}
			h.noRoom.add(sub.key, at)
			h.setGate(at, byFit)
		}
	}
	h.regated(leaf)
}

// openFits lets sub-queues without room try again, after room has become free.
func (h *gates) openFits() { h.placer.reopen(h) }

// returning unparks sub-queues that a gate held back. Their pools were not absent, so they keep their old places.
// Otherwise they would be raised to the level of the others, like pools that return from an absence. All pools that
// wait for the same license, the same maximum or a whole node would then tie again and again, and the same pool would
// always go first.
func (h *gates) returning(parked *[]subRef, g gate) {
	h.turns.keeping = g
	h.unpark(parked)
	h.turns.keeping = noGate
}

// somethingFits reports whether some job without a closed gate would fit on some node, so that a step without
// starts ends at once.
func (w *queues) somethingFits() bool {
	if r := &w.readyKeys; int(r.last) < len(r.n) && r.n[r.last] != 0 && w.site.cluster.Room(r.last) {
		return true
	}
	for _, key := range w.readyKeys.active {
		if w.site.cluster.Room(key) {
			w.readyKeys.last = key
			return true
		}
	}
	return false
}
