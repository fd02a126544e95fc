package sched

import (
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// placement starts the tasks that go first, where they have room.
type placement struct {
	site      *site
	tree      *tree
	orders    *orders
	queues    *queues
	running   *running
	turns     *turns
	overrides *overrides
	quotas    *quotas
	reserve   *reserve
	gates     *gates
	choice    *choice
	tariff    *tariff

	looked uint64 // event number at the end of the last step
	steps  uint64
}

// drawAll chooses one leaf pool after another, and starts the tasks that fit.
func (m *placement) drawAll(limit int, d *Decision) {
	m.startHeld(d)
	pools, jobs := m.choice.shortlist()
	for draws := 0; ; draws++ {
		if !m.queues.somethingFits() || m.tree.inners[m.tree.pools[Root].inner].open == 0 || m.tree.rootFull() ||
			m.site.deepEnough(m.reserve.backfill.behind) {
			break
		}
		if limit > 0 && len(d.Starts) >= limit || pools > 0 && draws >= pools {
			d.More = true
			break
		}
		if !m.draw(jobs, limit, d) {
			break
		}
	}
}

// draw chooses a leaf pool and starts up to "jobs" tasks of it. It returns false if the step is over.
func (m *placement) draw(jobs, limit int, d *Decision) bool {
	m.orders.dominants.sole = int8(m.queues.soleMain() + 1)
	more := m.drawSole(jobs, limit, d)
	m.orders.dominants.sole = 0
	return more
}

// drawSole is draw while the sole dominant resource with room is set.
func (m *placement) drawSole(jobs, limit int, d *Decision) bool {
	from := int32(len(d.levels))
	leaf := m.choice.choose(d)
	if leaf < 0 {
		d.levels = d.levels[:from]
		return false
	}
	started, roomless := 0, false
	for started < jobs && m.tree.openAbove(leaf) && (limit == 0 || len(d.Starts) < limit) {
		at, h := m.queues.next(leaf)
		node, fits := m.gates.admit(leaf, at, h.id)
		if !fits {
			// First come, first served: no job passes one that waits for room. A job that a maximum holds back delays
			// only its own pool.
			if started == 0 && m.site.strict && m.queues.sub(at).gate == noGate {
				if m.site.cluster.Empty().Could(m.queues.sub(at).key) {
					return false
				}
				m.gates.parkNoRoom(leaf, at) // it waits for other nodes to join
			}
			if started == 0 && !m.site.strict && (roomless || m.orders.againFirst(leaf)) {
				if !roomless { // no room appears until a task starts
					m.gates.parkRoomless(leaf)
				}
				roomless = true
				continue
			}
			break
		}
		if started == 0 && !m.site.oneByOne { // nobody asks a preview for its reasons
			m.choice.findRivals(d.levels[from:])
		}
		m.startAt(leaf, at, h, node, from, d)
		started++
		if m.choice.metMinimum(d.levels[from:]) {
			break
		}
	}
	if started == 0 {
		d.levels = d.levels[:from]
	}
	return true
}

// nothingNew reports whether nothing has happened since a step found that no more tasks can start.
func (m *placement) nothingNew() bool {
	b := &m.reserve.backfill
	return m.steps > 1 && !b.unfinished && m.looked == m.site.events
}

// startAt starts the job at the head of a sub-queue: a single task on the given node, or a gang on the nodes in hosts.
func (m *placement) startAt(leaf int32, at subRef, h head, node cluster.NodeID, from int32, d *Decision) {
	p := &m.reserve.backfill.patience
	i, first := p.find(h.id)
	if !first {
		m.startAll(leaf, at, h, node, from, d)
		return
	}
	t := p.of[i]
	m.startAll(leaf, at, h, node, from, d)
	if m.gates.someAskLess(m.queues.sub(at).key) {
		arrears{m.reserve}.takeOver(t, at)
	}
}

// startAll starts a single task or all tasks of a gang.
func (m *placement) startAll(leaf int32, at subRef, h head, node cluster.NodeID, from int32, d *Decision) {
	if m.site.gangOf(m.queues.sub(at).key) == 0 {
		m.start(leaf, at, h, node, from, d)
		return
	}
	for _, node := range m.reserve.hosts {
		m.start(leaf, at, h, node, from, d)
		h.begun = m.queues.begunOf[h.id]
	}
}

// start moves a task from waiting to running.
func (m *placement) start(leaf int32, at subRef, h head, node cluster.NodeID, from int32, d *Decision) {
	sub := m.queues.sub(at)
	j := Job{ID: h.id, Key: sub.key, Class: sub.class, Limit: sub.limit, Alike: sub.alike, since: h.since,
		Priority: int(sub.priority)}
	bar := m.queues.all[at.queue].bar(sub)
	b := m.queues.take(at, h)
	m.reserve.backfill.forget(h.id)
	m.queues.countWaiting(at, -1)
	if t := m.quotas.needsOf(j.Key); t != nil {
		m.quotas.countStart(t)
	}
	id := m.occupy(leaf, b, &j, node, m.site.at, bar)
	ahead := m.reserve.ahead(j.Key)
	if p := &m.reserve.backfill.patience; len(p.of) > 0 {
		p.began(h.id, ahead, m.site.instantOf())
	}
	d.Starts = append(d.Starts, Start{Run: id, Job: h.id, Pool: PoolID(leaf), Node: node,
		Ahead: ahead, from: from, to: int32(len(d.levels))})
}

// occupy adds a running task to its node and its pools, and removes it from the tasks that the pools up to the bar
// want. For the deficits, the demand and the running tasks of a pool change together: a pool that starts its last task
// is not idle in between.
func (m *placement) occupy(leaf, b int32, j *Job, node cluster.NodeID, started time.Time, bar int32) RunID {
	key := j.Key
	i := m.running.runFree.take(len(m.running.runs))
	if int(i) == len(m.running.runs) {
		m.running.runs = append(m.running.runs, run{})
	}
	r := &m.running.runs[i]
	*r = run{job: j.ID, since: j.since, class: j.Class, pool: leaf, begun: b, key: key, limit: j.Limit,
		alike: askOf(j).alike,
		node:  node, used: true, serial: r.serial + 1,
		priority: int8(j.Priority), isNew: m.tree.pools[leaf].isNew, started: started, start: m.site.now}
	if !started.Equal(m.site.at) {
		r.start = m.site.clock.At(started)
	}
	m.site.cluster.Take(node, key)
	m.running.count(r, +1)
	if since := m.reserve.backfill.patience.since; since != 0 && r.limit == 0 && started.UnixNano() >= since {
		r.beside = since
	}
	m.reserve.planStart(i)
	if t := m.quotas.needsOf(key); t != nil {
		m.quotas.hold(t, +1)
	}
	width := m.site.cluster.Width(key)
	if r.price = j.Charge; r.price == 0 {
		r.price = m.tariff.price(key)
	}
	m.tree.pools[m.tree.learner(leaf)].Mean = m.tree.meanOf(leaf)
	m.overrides.charge(leaf)
	for id := leaf; id >= 0; id = m.tree.pools[id].parent {
		p := &m.tree.pools[id]
		p.Tasks++
		p.Account.Start(width, r.price, r.start)
		m.tree.useUp(id, width)
		if d := m.tree.daysOf(p); d != nil {
			d.Run(r.price, m.site.instant.Unix)
			d.Add(r.price*(m.site.at.Sub(started).Seconds()), unix(started), m.site.instant.Unix)
		}
		m.tree.changed(id)
		if l := m.tree.limits(id); l != nil {
			l.add(m.site.cluster.Request(key), +1)
		}
	}
	m.tree.expect(leaf, +1, r.price)
	m.overrides.forecastEnds(leaf)
	m.orders.need(leaf, bar, key, 1, -1)
	m.orders.holdTask(leaf, key, +1)
	m.turns.settle(leaf)
	return r.id(int(i))
}

// startDue starts the tasks whose planned start has come, in order.
func (m *placement) startDue(limit int, d *Decision) {
	k, now, left := &m.reserve.backfill.keep, m.site.instantOf(), 0
	for i := range k.all {
		r := k.all[i]
		switch {
		case r.from == unplaced || r.from > now:
		case limit > 0 && len(d.Starts) >= limit:
			d.More = true
		case m.startKept(&r, d):
			continue
		case r.job == 0:
			continue
		}
		k.all[left] = r
		left++
	}
	k.all = k.all[:left]
}

// startKept starts a task in its kept room. If a gate holds it back, it loses the room; if the room is not free,
// because some task ran over its limit, it gets other room.
func (m *placement) startKept(r *reserved, d *Decision) bool {
	at, h, waits := m.queues.waitingJob(r)
	if waits {
		waits = m.gates.passes(m.queues.all[at.queue].pool, at)
	}
	m.reserve.holdRoom(r, +1)
	switch {
	case !waits:
		r.job = 0
		return false
	case !(beside{m.reserve}).sparesPlanned(r):
		r.from = unplaced
		return false
	}
	if !m.site.isThere(r) || !m.site.mayUse(r.nodes, r.key, m.queues.sub(at).limit) || !m.quotas.licensesFree(r.key) {
		r.from, r.sure = unplaced, false
		m.reserve.keepRoom(r)
		return false
	}
	leaf := m.queues.all[at.queue].pool
	from := int32(len(d.levels))
	m.choice.wayTo(leaf, d)
	m.choice.planned(leaf)
	m.reserve.hosts = append(m.reserve.hosts[:0], r.nodes...)
	m.startAt(leaf, at, h, r.nodes[0], from, d)
	return true
}

// nextIn returns the request and the job of the task that a pool would start next if there were room, and if the
// pools above were not at their maximum.
func (m *placement) nextIn(id int32) (ask, int64, bool) {
	waiting := m.gates.noRoom.all()
	m.gates.unpark(&waiting)
	m.gates.openAbove(id)
	for m.tree.pools[id].seat.in {
		leaf := id
		for m.tree.pools[leaf].inner >= 0 {
			leaf = m.choice.chooseIn(&m.tree.inners[m.tree.pools[leaf].inner])
		}
		at, h := m.queues.next(leaf)
		key := m.queues.sub(at).key
		full := m.tree.fullFor(leaf, key)
		switch {
		case full >= 0 && m.tree.within(full, id):
			m.gates.parkFull(leaf, at, full)
		case !m.site.openSomewhere(m.queues.sub(at).ask):
			m.gates.noRoom.add(key, at)
			m.gates.park(leaf, at, byFit)
		case !m.gates.holds(byWindow, leaf, at):
			return m.queues.sub(at).ask, h.id, true
		}
	}
	return ask{}, 0, false
}

// chosenElsewhere advances the clocks on the path to a task, as a choice by this scheduler would. A scheduler without
// room chooses nothing, so its clocks would otherwise stand still. Then a pool that returns while no other pool waits
// would be behind by all service that the others received in its absence.
func (m *placement) chosenElsewhere(run RunID) {
	for id := m.running.run(run).pool; id != int32(Root); id = m.tree.pools[id].parent {
		if in := m.tree.parentOf(id); in.as.carrier != nil {
			in.clock = math.Max(in.clock, in.as.carrier.Level(&m.tree.pools[id], m.site.now))
		}
	}
}

// startHeld starts the job that nodes are held for, if it finds room there or elsewhere.
func (m *placement) startHeld(d *Decision) {
	h := m.reserve.backfill.patience.held
	if h.job == 0 {
		return
	}
	if m.reserve.backfill.plan == nil { // a preview does not plan
		return
	}
	at, first, waits := m.queues.waitingJob(&h)
	if !waits {
		return
	}
	leaf := m.queues.all[at.queue].pool
	if !m.gates.passes(leaf, at) {
		return
	}
	m.reserve.holdRoom(&h, +1)
	node, fits := m.reserve.findPaid(h.key, m.queues.sub(at).limit)
	if !fits {
		m.reserve.holdRoom(&h, -1)
		return
	}
	b := &m.reserve.backfill
	b.firsts = slices.DeleteFunc(b.firsts, func(r reserved) bool { return r.job == h.job })
	b.patience.held, b.patience.since = reserved{}, 0
	from := int32(len(d.levels))
	m.choice.wayTo(leaf, d)
	m.startAt(leaf, at, first, node, from, d)
}
