package sched

import "time"

// Exchange gives the waiting job "was" another priority or class, or gives its tasks other begin times. The jobs in
// "is" take its place, and each of them stands for some of its waiting tasks. In the meantime no pool looks idle: a
// pool that had been idle would return as from an absence, and lose its place in the order.
func (s *Scheduler) Exchange(was Job, is []Job, t time.Time) {
	s.Advance(t)
	b, begun := s.queues.begunOf[was.ID]
	var at subRef
	fresh := false
	if !begun {
		at, fresh = s.growth.held(was)
	}
	if !begun && !fresh || len(is) == 0 {
		s.Withdraw(was, t)
		for _, j := range is {
			s.Add(j, t)
		}
		return
	}
	s.site.events++
	s.intake.later.withdraw(was.ID)
	now := is[0]
	now.Tasks = 0
	for _, j := range is {
		if j.Begin.After(s.site.at) {
			s.intake.later.add(j)
		} else {
			now.Tasks += j.Tasks
		}
	}
	k := &s.reserve.backfill.keep
	relist := k.relist
	k.relist = true // no job comes
	if begun {
		at = s.queues.begun[b].at
		s.intake.exchangeBegun(b, now)
	} else {
		s.intake.exchangeFresh(at, now)
	}
	k.relist = relist || s.reserve.backfill.stable
	s.reserve.keepRoomOf(at, now)
}

// keepRoomOf lets a job keep its planned start when it moves to another sub-queue: that room was promised for an
// instant, and a new priority does not change that.
func (f *reserve) keepRoomOf(was subRef, now Job) {
	k := &f.backfill.keep
	if f.backfill.plan == nil {
		return
	}
	if now.Tasks == 0 {
		k.left = true
		return
	}
	to := f.growth.subFor(int32(f.growth.Leaf(now)), askOf(&now))
	for i := range k.all {
		if r := &k.all[i]; r.job == now.ID && r.at == was && r.key == now.Key {
			r.at, r.arrival = to, f.queues.arrivalOf(to, now.ID)
		}
	}
	for i := range k.fresh {
		if w := &k.fresh[i]; w.job == now.ID && w.at == was {
			w.at = to
		}
	}
}

// exchangeBegun is Exchange for a job with running tasks.
func (a *intake) exchangeBegun(b int32, now Job) {
	if now.Tasks == 0 {
		a.withdrawBegun(b)
		return
	}
	had := a.queues.begun[b].waiting
	a.add(now)
	at := a.queues.begun[b].at
	a.queues.change(at, func(*subQueue) { a.queues.begun[b].waiting -= had; a.queues.reheap(b) })
	a.queues.addWaiting(at, -int64(had))
	a.turns.settle(a.queues.all[at.queue].pool)
}

// exchangeFresh is Exchange for a job without started tasks.
func (a *intake) exchangeFresh(at subRef, now Job) {
	ci, i, _ := a.queues.sub(at).fresh.find(now.ID)
	had := a.queues.sub(at).fresh.chunk(ci).entries[i].tasks
	if now.Tasks > 0 && a.growth.subFor(a.growth.leaf(now, a.site.isNew(now)), askOf(&now)) == at {
		if int32(now.Tasks) == had {
			a.turns.settle(a.queues.all[at.queue].pool)
			return
		}
		a.withdrawFresh(at, now.ID)
		a.add(now)
		return
	}
	if now.Tasks > 0 {
		a.add(now)
	}
	a.withdrawFresh(at, now.ID)
}
