package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// Under [EASY], and under [Conservative] if the order can change, room is kept for the first job without room, by the
// planned run times of the other tasks. These predictions may be wrong again and again, so the wait of a job is
// bounded. It may last for [Config.Patience] from the moment when room was first kept for the job. If Patience is 0,
// two instants bound the wait, and the later one counts. The first is the start that was planned when room was first
// kept. The second is that moment plus the longest run time, past or expected, of the tasks without a limit that ran
// then. A job has also waited too long if other jobs went before it and all tasks that ran at the beginning have
// ended. For if an order forgets past usage, the same jobs could go first again and again. After that, nodes are held
// for the job, whichever job goes first. Other tasks start there only if their time limits allow it, and the job
// starts at the latest when the tasks on these nodes have ended. If all tasks have a limit, no prediction can be
// wrong. Then a job has waited too long only if others went before it until all tasks that ran when it became first
// had ended. That can happen because narrow jobs that go ahead use up the share of its pool, so that other pools come
// first.

// patience records how long jobs have waited as the first job.
type patience struct {
	of []turn // of the jobs that have been first
	// longest is the planned run time of the longest task without a limit, at an instant.
	longest struct{ at, length int64 }
	held    reserved // the held room, of one job at a time; job is 0 if there is none
	// since is when the hold began. Tasks without a limit that started later beside the held room are planned to run
	// on. If they were planned to end soon, others would start in their room, and the held room would never become
	// free. The field beside means that there are such tasks; then the plan is made anew when the hold is over.
	since  int64
	beside bool
}

// turn says how long a job has been first, and from when nodes are held for it.
type turn struct {
	job          int64
	first        int64 // when the job became first
	since, until int64 // since is the instant of the tasks that until and ran refer to
	sure         bool  // until includes the longest task
	ran          int   // number of tasks that ran then and still run
	passed       bool  // others have gone before it since
	last         bool  // it was the first job when a step last looked for one

	served float64 // service of its pool up to first, as it counted then; see owed
	// share is the part of the cluster that compensates its pool, if the job took over the turn of an earlier job, see
	// takeOver; otherwise it is 0.
	share float64
	at    subRef
}

func (p *patience) fork() patience {
	f := *p
	f.of = slices.Clone(p.of)
	return f
}

// find returns the index of the turn of a job, or the number of turns if the job has none.
func (p *patience) find(job int64) (i int, known bool) {
	for i = range p.of {
		if p.of[i].job == job {
			return i, true
		}
	}
	return len(p.of), false
}

// looked records that a step has found a first job. The flag "alone" means that it is the only first job; otherwise it
// is a further one, with another window.
func (p *patience) looked(job int64, alone bool) {
	for i := range p.of {
		t := &p.of[i]
		t.last = t.job == job || t.last && !alone
	}
}

// maxTurns is the largest number of jobs with a turn. It is bounded because each start of a task visits all turns. A
// job that becomes first when there are already that many gets its turn once one of them has started.
const maxTurns = 64

// forget drops a job that starts or leaves.
func (p *patience) forget(job int64) {
	if i, known := p.find(job); known {
		p.of = slices.Delete(p.of, i, i+1)
	}
}

// began records that a task of a job starts before another job, for which room is kept. The number of the other job is
// 0 if the task overtakes no job.
func (p *patience) began(job, ahead, now int64) {
	for i := range p.of {
		t := &p.of[i]
		if t.job == job {
			continue
		}
		t.passed = t.passed || ahead != t.job
		if t.since == now {
			t.ran++
		}
	}
}

// ended records that a task has ended.
func (p *patience) ended(r *run) {
	started := r.started.UnixNano()
	for i := range p.of {
		if t := &p.of[i]; started <= t.since {
			t.ran--
		}
	}
}

// isOver records that a job is first, with its room, and reports whether it has been first for too long.
func (f *reserve) isOver(r *reserved) bool {
	p := &f.backfill.patience
	i, known := p.find(r.job)
	if !known && len(p.of) == maxTurns {
		return false
	}
	if !known {
		p.of = append(p.of, f.turnOf(r))
	}
	t, now := &p.of[i], f.site.instantOf()
	if t.until == cluster.Forever && f.running.endless.all > 0 {
		t.expects(f.turnOf(r)) // from now on predictions can be wrong
	}
	switch {
	case f.site.opens(r) > now:
		return false // the nodes would be idle until then
	case r.sure && f.backfill.arrival:
		return false // nobody comes before it, and it starts as promised
	}
	if now > t.until && !t.sure {
		t.until, t.sure = max(t.until, t.since+f.longestAt(t.since)), true
	}
	return t.seems(now)
}

// expects replaces the bounds of a turn. It does not change how long the job has been first.
func (t *turn) expects(next turn) {
	next.first, next.served, next.share, next.at, next.last = t.first, t.served, t.share, t.at, t.last
	*t = next
}

// turnOf is the turn of a job that becomes first now.
func (f *reserve) turnOf(first *reserved) turn {
	now, p := f.site.instantOf(), f.site.cfg.Patience
	t := turn{job: first.job, first: now, since: now, until: first.from, ran: int(f.tree.pools[Root].Tasks),
		served: arrears{f}.servedAt(first.at), at: first.at}
	if f.running.endless.all == 0 {
		t.until, t.sure = cluster.Forever, true // no prediction can be wrong; see passed
	}
	if p > 0 {
		t.until, t.sure = now+int64(p), true
	}
	return t
}

// seems reports whether a turn is over, unless it has to wait for longer tasks or for the end of a window, see isOver.
func (t *turn) seems(now int64) bool { return now > t.until || t.passed && t.ran <= 0 }

// holdLast holds nodes for the job that was first when a step last looked for one, if it has been first for too long
// since. While everything is in use, no step looks: jobs that came meanwhile go before it, and would take its room.
func holdLast(f *reserve) {
	p := &f.backfill.patience
	for i := 0; i < len(p.of) && p.held.job == 0; i++ {
		t := p.of[i]
		if !t.last || !t.seems(f.site.instantOf()) || !f.queues.there(t.at) {
			continue
		}
		r := f.queues.unplacedAt(t.at, t.job)
		if !f.queues.waitsForRoom(&r) || !f.keepRoom(&r) {
			continue
		}
		if f.holdRoom(&r, +1); f.isOver(&r) {
			f.hold(&r)
		}
	}
}

// longestAt is the planned run time of the longest task without a limit, among the tasks that ran at an instant and
// still run. With many tasks, it reuses an answer for a while, because the answer is only a bound.
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
		case r.expected >= int64(NoLimit): // planned to run on only while nodes are held
			a := r.ask()
			longest = max(longest, f.predicted(r.pool, &a), since-began)
		default:
			longest = max(longest, r.expected, since-began)
		}
	}
	last.at, last.length = since, longest
	return longest
}

// manyTasks is the number of tasks above which only some jobs cause a visit of all tasks.
const manyTasks = 1000

// hold holds the nodes where a job has its earliest room. While the job lacks licenses, it holds only the licenses,
// from the instant at which they become free, and no nodes. Otherwise other tasks would take the licenses until then,
// and the nodes with them.
func (f *reserve) hold(r *reserved) {
	h := *r
	h.held, h.lacksLicense = true, !f.quotas.licensesFree(h.key)
	h.sure = !h.lacksLicense && !f.running.endlessAmong(h.nodes)
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

// letGo gives up the kept room and the held nodes, because another backfill rule or order chooses anew.
func (f *reserve) letGo() {
	b := &f.backfill
	b.plan, b.firsts, b.last, b.patience, b.promises = nil, b.firsts[:0], reserved{}, patience{}, promises{}
	b.uniform, b.alike = false, 0
	cluster.KeptOf(f.site.cluster).Release()
}

// holdAgain renews the hold of the last step. If there is none, it holds the room of a job that has to start in it
// now, or else nodes for a job that took over a turn.
func (f *reserve) holdAgain(came turn) {
	f.renewHold()
	if came.job != 0 && f.backfill.patience.held.job == 0 {
		arrears{f}.holdFor(came, 0)
	}
	if !f.backfill.arrival {
		holdLast(f)
	}
	arrears{f}.holdOwed()
}

// renewHold renews the hold of the last step, if the job still waits for room.
func (f *reserve) renewHold() {
	p := &f.backfill.patience
	h := p.held
	if h.job == 0 {
		return
	}
	i, known := p.find(h.job)
	if p.held = (reserved{}); !f.queues.waitsForRoom(&h) || known && (arrears{f}).isPaid(&p.of[i]) {
		p.since = 0
		return
	}
	length := f.keptLength(h.at)
	from, nodes, found := f.paidFrom(h.key, length, f.site.instantOf(), cluster.Forever)
	if found {
		h.from, h.to = from, from+length
	}
	if len(h.nodes) == 0 {
		h.nodes = nodes
	}
	if !found || f.site.opens(&h) > f.site.instantOf() {
		p.since = 0
		return
	}
	f.hold(&h)
}

// waitsForRoom reports whether a job waits in its sub-queue, and only lack of room holds it back.
func (w *queues) waitsForRoom(r *reserved) bool {
	if !w.there(r.at) {
		return false
	}
	if sub := w.sub(r.at); sub.key != r.key || sub.held() {
		return false
	}
	_, _, waits := w.inSubQueue(r)
	return waits
}

// there reports whether a sub-queue exists.
func (w *queues) there(at subRef) bool {
	return int(at.queue) < len(w.all) && int(at.sub) < w.all[at.queue].subs()
}
