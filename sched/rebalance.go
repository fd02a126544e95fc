package sched

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// rebalancer watches the spread of the children of pools whose allotter stops tasks.
type rebalancer struct {
	site    *site
	tree    *tree
	queues  *queues
	running *running
	choice  *choice

	next time.Time // when tasks might be stopped; zero if never
}

// look computes the spread of the children of a pool, and reports whether some of their tasks should be stopped
// now.
func (b *rebalancer) look(in *inner) (classes []Claimant, spread float64, due bool) {
	threshold, after := in.as.allot.Rebalances()
	b.choice.retarget(in)
	a := in.allotting
	classes = b.classesLeft(in)
	if b.tree.pathFull(in.id) {
		b.unboundWaiting(in, classes)
	}
	if in.as.allot.Spread(a.whole, classes) <= threshold {
		a.over, a.tried = time.Time{}, time.Time{}
		return nil, 0, false
	}
	if a.over.IsZero() {
		a.over = b.site.at
	}
	// The spread must last longer than the duration, so the earliest instant is just after the end of the
	// duration.
	if due := lastOf(a.over, a.tried).Add(after + 1); b.site.at.Before(due) {
		b.lookBy(due)
		return nil, 0, false
	}
	b.boundWaiting(in, classes)
	spread = in.as.allot.Spread(a.whole, classes)
	if spread <= threshold { // the spread came only from waiting tasks that may not run
		a.over, a.tried = time.Time{}, time.Time{}
		return nil, 0, false
	}
	return classes, spread, true
}

// reason explains why a pool is rebalanced.
func (b *rebalancer) reason(in *inner, spread float64) string {
	threshold, _ := in.as.allot.Rebalances()
	return fmt.Sprintf("the newest that could be spared; the children of %s lie %.1f points apart, more than %v, for %s",
		pathOf(b.tree.Path(PoolID(in.id))), spread, threshold, why.Duration(b.site.at.Sub(in.allotting.over)))
}

// served records the number of starts planned for the children of a pool, and sets when to look again.
func (b *rebalancer) served(in *inner, planned int) {
	_, after := in.as.allot.Rebalances()
	a := in.allotting
	switch planned {
	case maxPlanned: // the rest follows soon
		b.lookBy(b.site.at.Add(shortestGap))
	case 0:
		a.tried = b.site.at
		b.lookBy(b.site.at.Add(after + 1))
	default:
		a.over, a.tried = time.Time{}, time.Time{}
	}
}

// lookBy makes sure that the next look is no later than an instant.
func (b *rebalancer) lookBy(due time.Time) {
	if b.next.IsZero() || due.Before(b.next) {
		b.next = due
	}
}

func lastOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func pathOf(path string) string { return cmp.Or(share.Original(path), "the root") }

// classesLeft describes the children without leaving tasks. Tasks without room count as waiting, too, because room
// may be made for them.
func (b *rebalancer) classesLeft(in *inner) []Claimant {
	all := b.tree.classes(in)
	for i, kid := range in.kids {
		p, l := &b.tree.pools[kid], b.tree.limits(kid)
		if !p.seat.in && in.as.allot.Serves(p.Weight) && (l == nil || !l.full(p.Tasks)) {
			all[i].Waiting = int64(p.Wanted)
		}
	}
	for _, r := range b.running.leavingRuns() {
		if kid := b.tree.childAbove(in.id, r.pool); kid >= 0 {
			all[b.tree.pools[kid].seat.kid].Running -= int64(b.site.cluster.Width(r.key))
		}
	}
	return all
}

// unboundWaiting also counts tasks that wait only because the pool, or one above it, is at its maximum: a child
// above its target can give room.
func (b *rebalancer) unboundWaiting(in *inner, classes []Claimant) {
	for i, kid := range in.kids {
		l := b.tree.limits(kid)
		if p := &b.tree.pools[kid]; in.as.allot.Serves(p.Weight) && (l == nil || !l.full(p.Tasks)) {
			classes[i].Waiting = math.MaxInt64
		}
	}
	b.boundWaiting(in, classes)
}

// boundWaiting leaves out waiting tasks that could not run even with unlimited room, because they exceed a maximum
// or fit on no node.
func (b *rebalancer) boundWaiting(in *inner, classes []Claimant) {
	f := newFilling(b.site, b.tree, b.queues)
	f.bound(in.id)
	for i, kid := range in.kids {
		most := math.Floor(f.bounds[kid].max - b.tree.pools[kid].Running + rounding)
		classes[i].Waiting = min(classes[i].Waiting, int64(math.Max(0, most)))
	}
}
