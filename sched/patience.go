package sched

import (
	"maps"
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// Under [EASY], and under [Conservative] where the order changes, room is kept for the first job
// without room by how long the others are planned to run,
// and a prediction may be wrong, again and again. So a job waits for a bounded time only: for
// [Config.Patience] from when room was first kept for it or, if that is 0, until it was to start by
// then, and for as long as the longest task without a limit that ran then had run, or was expected to.
// It also waits for too long if all that ran then has ended, and others went before it: where an order
// forgets what pools had, the same could go first again and again. After that nodes are held for it,
// whoever goes first: others start there by their time limits only. It starts at the latest when the
// tasks on these nodes have ended. Where all tasks have a limit no prediction can be wrong, and a job has
// waited for too long only if others went before it until all that ran when it was first had ended: narrow
// jobs that go ahead use up the share of its pool, so that others come first.

// patience is for how long jobs have waited as the first.
type patience struct {
	of map[int64]turn // by job that was first
	// longest is how long the longest task without a limit was planned to run at an instant.
	longest struct{ at, length int64 }
	held    reserved // the room that is held, for one job at a time; job is 0 if there is none
	// since is when the hold began. Tasks without a limit that started after that beside the held room are
	// planned to run on: if their room were planned to be free again soon, others would start in it, and
	// the held room would never be free. beside is set when there are such tasks: the plan is made anew
	// when the hold is over.
	since  int64
	beside bool
}

// turn is since when a job has been first, and from when on nodes are held for it.
type turn struct {
	since, until int64
	sure         bool // until counts the longest task, too
	ran          int  // tasks that ran then and still do
	passed       bool // others have gone before it since
}

func (p *patience) fork() patience {
	f := *p
	f.of = maps.Clone(p.of)
	return f
}

// maxTurns bounds the jobs whose turns are counted at once, as each start of a task looks at all of them. A
// job that becomes the first while there are that many is counted when one of them has started.
const maxTurns = 64

// forget is called for jobs that start or leave.
func (p *patience) forget(job int64) {
	if len(p.of) > 0 {
		delete(p.of, job)
	}
}

// began notes that a task of a job starts before another one, or before none.
func (p *patience) began(job, ahead, now int64) {
	for first, t := range p.of {
		if first != job {
			t.passed = t.passed || ahead != first
			if t.since == now {
				t.ran++
			}
			p.of[first] = t
		}
	}
}

// ended notes that a task has ended.
func (p *patience) ended(r *run) {
	for job, t := range p.of {
		if r.started.UnixNano() <= t.since {
			t.ran--
			p.of[job] = t
		}
	}
}

// isOver notes that a job is first, with its room, and reports whether it has been for too long.
func (f *reserve) isOver(r *reserved) bool {
	p := &f.backfill.patience
	t, known := p.of[r.job]
	if !known && len(p.of) == maxTurns {
		return false
	}
	if !known {
		if t = f.turnOf(r); p.of == nil {
			p.of = map[int64]turn{}
		}
		p.of[r.job] = t
	}
	now := f.site.instantOf()
	if now > t.until && !t.sure {
		t.until, t.sure = max(t.until, t.since+f.longestAt(t.since)), true
		p.of[r.job] = t
	}
	return now > t.until || t.passed && t.ran <= 0
}

// turnOf is the turn of a job that is first from now on.
func (f *reserve) turnOf(first *reserved) turn {
	now, p := f.site.instantOf(), f.site.cfg.Patience
	t := turn{since: now, until: first.from, ran: int(f.tree.pools[Root].Tasks)}
	if f.running.endless == 0 {
		t.until, t.sure = cluster.Forever, true // no prediction can be wrong; see passed
	}
	if p > 0 {
		t.until, t.sure = now+int64(p), true
	}
	return t
}

// longestAt is how long the longest task without a limit is planned to run, among the tasks that ran at an
// instant and still do. On sites with many tasks an answer serves for a while, as it is only a bound.
func (f *reserve) longestAt(since int64) int64 {
	last := &f.backfill.patience.longest
	if age := since - last.at; age >= 0 && age < int64(longestStay) && len(f.running.runs) > manyTasks {
		return last.length + age
	}
	longest := int64(0)
	for i := range f.running.runs {
		r := &f.running.runs[i]
		began := f.site.startOf(r).UnixNano()
		switch {
		case !r.used || r.limit > 0 || began > since:
		case r.expected >= int64(NoLimit): // it is planned to run on only while nodes are held
			a := r.ask()
			longest = max(longest, f.predicted(r.pool, &a), since-began)
		default:
			longest = max(longest, r.expected, since-began)
		}
	}
	last.at, last.length = since, longest
	return longest
}

// manyTasks is from how many tasks on they are not all looked at for each job.
const manyTasks = 1000

// hold holds the nodes on which a job has room first, or only its licenses, as long as these are what
// it lacks. These are held from when they are free, whenever nodes are: others would take them until then, and
// take the nodes with them.
func (f *reserve) hold(r *reserved) {
	h := *r
	h.held, h.lacksLicense = true, !f.quotas.licensesFree(h.key)
	if length := h.to - h.from; h.lacksLicense {
		if from, found := f.licensesFrom(h.key, length, f.site.instantOf(), cluster.Forever); found {
			h.from, h.to = from, from+length
		}
	}
	p := &f.backfill.patience
	if p.since == 0 {
		p.since = f.site.instantOf()
	}
	p.held = h
	f.keepAhead(h)
}

// letGo gives up the room of the first jobs and the held nodes: another placement or order chooses anew.
func (f *reserve) letGo() {
	b := &f.backfill
	b.plan, b.firsts, b.last, b.patience = nil, b.firsts[:0], reserved{}, patience{}
	b.uniform, b.alike = false, 0
	cluster.KeptOf(f.site.cluster).Release()
}

// holdAgain repeats the hold of the last step in a new one, if the job still waits for room.
func (f *reserve) holdAgain() {
	p := &f.backfill.patience
	h := p.held
	if h.job == 0 {
		return
	}
	if p.held = (reserved{}); !f.lines.waitsForRoom(&h) {
		p.since = 0
		return
	}
	length := f.lengthAt(h.at)
	from, nodes, found := f.paidFrom(h.key, length, f.site.instantOf(), cluster.Forever)
	if !found {
		p.since = 0
		return
	}
	h.from, h.to = from, from+length
	if len(h.nodes) == 0 {
		h.nodes = nodes
	}
	f.hold(&h)
}

// waitsForRoom reports whether a job waits in its line, and nothing but the want of room holds it back.
func (w *lines) waitsForRoom(r *reserved) bool {
	if !w.there(r.at) {
		return false
	}
	if l := w.line(r.at); l.key != r.key || l.held() {
		return false
	}
	_, _, waits := w.inLine(r)
	return waits
}

// there reports whether there is a line.
func (w *lines) there(at lineRef) bool {
	return int(at.queue) < len(w.queues) && int(at.line) < w.queues[at.queue].lines()
}

// startHeld starts the job for which nodes are held, if it finds room there or elsewhere.
func (m *placement) startHeld(d *Decision) {
	h := m.reserve.backfill.patience.held
	if h.job == 0 {
		return
	}
	if m.reserve.backfill.plan == nil { // a copy looks ahead, and plans nothing
		return
	}
	at, first, waits := m.lines.waitingJob(&h)
	if !waits {
		return
	}
	leaf := m.lines.queues[at.queue].pool
	if !m.gates.passes(leaf, at) {
		return
	}
	m.reserve.holdRoom(&h, +1)
	node, fits := m.reserve.findPaid(h.key, m.lines.line(at).limit)
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
