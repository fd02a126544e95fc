package sched

import (
	"iter"
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// awayGate holds back the jobs that no node could run at present even if it were empty: none is large enough, or the
// suitable nodes are drained, in maintenance or down. It does so in previews and evidence only. Such a job waits for
// room, and a preview has room for every job. Without this gate, the job would seem to go before others for as long as
// the nodes are away.
type awayGate struct {
	openKind
	h      *gates
	barred map[cluster.Key]bool
	parked []subRef
}

func (a *awayGate) fork(h *gates) gateKind { return &awayGate{h: h} }

func (a *awayGate) sleeps() bool { return len(a.barred) == 0 }

func (a *awayGate) holds(_ int32, at subRef) (pool int32, held bool) {
	if !a.barred[a.h.queues.sub(at).key] {
		return -1, false
	}
	a.parked = append(a.parked, at)
	return -1, true
}

func (a *awayGate) noted() iter.Seq[subRef] { return slices.Values(a.parked) }

func (a *awayGate) restart() { a.parked = nil }

// barAway finds the requests that no node can serve at present. If no node takes tasks at all, it bars none, because
// then the missing nodes put no job before another.
func (h *gates) barAway() {
	if !slices.ContainsFunc(h.site.cluster.Nodes(), func(n cluster.Node) bool { return n.State.Counts() }) {
		return
	}
	barred := map[cluster.Key]bool{}
	for _, key := range slices.Concat(h.queues.readyKeys.active, h.noRoom.active) {
		if !h.site.takes(key) {
			barred[key] = true
		}
	}
	h.kinds[byAway-byMax].(*awayGate).barred = barred
	h.able = append(h.able, byAway)
}

// holdAway holds the barred sub-queues back before the first start. Otherwise a pool below its minimum of a resource
// could go first because such a sub-queue asks for this resource.
func (h *gates) holdAway() {
	if !h.kinds[byAway-byMax].sleeps() {
		h.holdReady([]gate{byAway})
	}
}

// takes reports whether a task with a key, or a whole gang, could run on the nodes that take tasks, if they were empty.
func (m *site) takes(key cluster.Key) bool {
	if n := m.gangOf(key); n > 0 {
		room, _ := m.cluster.Empty().GangRoom(key)
		return room >= int(n)
	}
	for id := range cluster.NodeID(len(m.cluster.Nodes())) {
		elsewhere, _ := m.cluster.Empty().SuitsElsewhere(id, key)
		if elsewhere || m.cluster.Empty().Suits(id, key) {
			return true
		}
	}
	return false
}
