package sched

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// maximumGate holds jobs back at the maximum of a pool on their path. The sub-queues are noted at the [limit].
type maximumGate struct {
	openKind
	h *gates
}

func (m *maximumGate) fork(h *gates) gateKind { return &maximumGate{h: h} }

func (m *maximumGate) holds(leaf int32, at subRef) (pool int32, held bool) {
	full := m.h.tree.fullFor(leaf, m.h.queues.sub(at).key)
	if full < 0 {
		return full, false
	}
	m.h.tree.limits(full).note(at)
	return full, true
}

func (m *maximumGate) sleeps() bool { return len(m.h.tree.limited) == 0 }

func (m *maximumGate) counted() {}

func (m *maximumGate) noted() iter.Seq[subRef] {
	return func(yield func(subRef) bool) {
		for i := range m.h.tree.limited {
			for _, at := range m.h.tree.limited[i].parked {
				if !yield(at) {
					return
				}
			}
		}
	}
}

func (m *maximumGate) ended(leaf int32, _ cluster.Key) {
	if m.sleeps() {
		return
	}
	for id := leaf; id >= 0; id = m.h.tree.pools[id].parent {
		if l := m.h.tree.limits(id); l != nil {
			m.h.returning(&l.parked, byMax)
		}
	}
}

// parkFull parks a sub-queue at the maximum of a pool.
func (h *gates) parkFull(leaf int32, at subRef, full int32) {
	h.tree.limits(full).note(at)
	h.putGate(at, byMax, full)
	h.regated(leaf)
}

// openAbove lets sub-queues try again if the maximum of a pool above the given one holds them back.
func (h *gates) openAbove(id int32) {
	for above := h.tree.pools[id].parent; above >= 0; above = h.tree.pools[above].parent {
		if l := h.tree.limits(above); l != nil {
			h.unpark(&l.parked)
		}
	}
}

// ofPool lists the maxima of a pool; with noKey, for a task that asks for nothing.
func (m *maximumGate) ofPool(id int32, key cluster.Key) []why.Gate {
	l := m.h.tree.limits(id)
	if l == nil {
		return nil
	}
	path := cmp.Or(m.h.tree.Path(PoolID(id)), "root")
	var gates []why.Gate
	var request cluster.Vector
	n := int64(0)
	if key != noKey {
		request, n = m.h.site.cluster.Request(key), m.h.site.atOnce(key)
	}
	if l.tasks > 0 {
		gates = append(gates, tasksGate(l, int64(m.h.tree.pools[id].Tasks), n, path))
	}
	for r, most := range l.max {
		if most < 0 {
			continue
		}
		need := int64(0)
		if r < len(request) {
			need = n * request[r]
		}
		g := why.Gate{Name: "max " + m.h.site.cluster.Resource(r), Where: path, Open: l.used[r]+need <= most,
			Used: fmt.Sprint(l.used[r]), Limit: fmt.Sprint(most)}
		if most > 0 && need > most {
			g.Code, g.Need = why.GateNever, fmt.Sprint(need)
		} else if !g.Open {
			g.Code = why.GateMax
		}
		gates = append(gates, g)
	}
	slices.SortFunc(gates, func(a, b why.Gate) int { return cmp.Compare(a.Name, b.Name) })
	return append(gates, m.gangLimit(l, path, key)...)
}

// tasksGate is the gate of a limit on simultaneous tasks of a pool. The argument "run" is the number of its running
// tasks, and n is the number of tasks that would start.
func tasksGate(l *limit, run, n int64, path string) why.Gate {
	g := why.Gate{Name: "max_running", Where: path, Open: run < int64(l.tasks) && run+n <= int64(l.tasks),
		Used: fmt.Sprint(run), Limit: fmt.Sprint(l.tasks)}
	if n > int64(l.tasks) {
		g.Code, g.Need = why.GateNever, fmt.Sprint(n)
		g.Text = fmt.Sprintf("its %d tasks start all at once, and %s may run %d", n, share.Original(path), l.tasks)
	} else if !g.Open {
		g.Code = why.GateMaxTasks
	}
	return g
}

// gangLimit is the gate of a limit on simultaneous tasks of one job, which a larger gang never passes.
func (m *maximumGate) gangLimit(l *limit, path string, key cluster.Key) []why.Gate {
	if key == noKey {
		return nil
	}
	n := m.h.site.gangOf(key)
	if l.jobRunning == 0 || n == 0 {
		return nil
	}
	g := why.Gate{Name: "job_max_running", Where: path, Open: n <= l.jobRunning, Used: "0",
		Limit: fmt.Sprint(l.jobRunning)}
	if !g.Open {
		g.Code, g.Need = why.GateNever, fmt.Sprint(n)
		g.Text = fmt.Sprintf("its %d tasks start all at once, and %s allows %d of one job", n, share.Original(path),
			l.jobRunning)
	}
	return []why.Gate{g}
}
