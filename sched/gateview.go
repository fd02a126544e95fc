package sched

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// Gates lists the restrictions on the way of a job, closed or open.
func (s *Scheduler) Gates(j Job) []why.Gate {
	gates := append(s.limitsOnTheWay(s.Leaf(j), j.Shape), s.TollGates(j.Shape)...)
	if b, ok := s.begunOf[j.ID]; ok && s.begun[b].most > 0 {
		gates = append(gates, jobGate(&s.begun[b]))
	}
	if g, asks := s.reservationGate(j.Shape); asks {
		gates = append(gates, g)
	}
	return append(gates, s.windowGate(&j, s.holeGate(&j, s.nodeGate(j.Shape))))
}

// noShape stands for a request of nothing.
const noShape = cluster.Shape(-1)

// PoolGates lists the restrictions on the way of the jobs of a leaf that may start first:
// those of a line that no gate holds back, if there is one.
func (s *Scheduler) PoolGates(leaf PoolID) []why.Gate {
	first, found := s.tellingBelow(int32(leaf))
	if !found {
		return s.limitsOnTheWay(leaf, noShape)
	}
	return s.LineGates(leaf, first.shape)
}

// FirstGates is [Scheduler.PoolGates] with what reservations have to do with those jobs, for which
// all nodes are looked at, and the limit of these jobs.
func (s *Scheduler) FirstGates(leaf PoolID) (gates []why.Gate, limit time.Duration) {
	first, found := s.tellingBelow(int32(leaf))
	if !found {
		return s.limitsOnTheWay(leaf, noShape), 0
	}
	gates = append(s.limitsOnTheWay(leaf, first.shape), s.TollGates(first.shape)...)
	if g, asks := s.reservationGate(first.shape); asks {
		gates = append(gates, g)
	}
	return append(gates, s.windowGate(&Job{Shape: first.shape, Limit: first.limit}, s.nodeGate(first.shape))), first.limit
}

// tellingBelow is what the first job asks for that waits in a pool or below it, of a line that
// is ready if there is one.
func (s *Scheduler) tellingBelow(id int32) (first ask, found bool) {
	if q := s.pools[id].queue; q >= 0 {
		return s.queues[q].telling(), s.pools[id].Waiting > 0
	}
	for _, kid := range s.Children(PoolID(id)) {
		if s.pools[kid].Waiting == 0 {
			continue
		}
		of, some := s.tellingBelow(int32(kid))
		if some && (!found || s.pools[kid].in) {
			first, found = of, true
		}
		if s.pools[kid].in {
			break
		}
	}
	return first, found
}

// LineGates lists the restrictions on the way of the jobs of a pool that ask for a shape.
func (s *Scheduler) LineGates(leaf PoolID, shape cluster.Shape) []why.Gate {
	gates := append(s.limitsOnTheWay(leaf, shape), s.TollGates(shape)...)
	return append(gates, s.nodeGate(shape))
}

func (s *Scheduler) limitsOnTheWay(leaf PoolID, shape cluster.Shape) []why.Gate {
	var gates []why.Gate
	for id := int32(leaf); id >= 0; id = s.pools[id].parent {
		if g, closed := s.servedGate(id); closed {
			gates = append(gates, g)
		}
		if g, paused := s.pauseGate(id); paused {
			gates = append(gates, g)
		}
		if l, ok := s.Limits(PoolID(id)); ok {
			gates = append(gates, s.limitGates(PoolID(id), l, shape)...)
		}
	}
	return gates
}

// servedGate says that a pool is entitled to nothing, where its policy then never serves it.
func (s *Scheduler) servedGate(id int32) (g why.Gate, closed bool) {
	if in := s.inAbove(id); in == nil || in.allot == nil || in.allot.Serves(s.pools[id].Weight) {
		return g, false
	}
	return why.Gate{
		Name: "load", Where: s.Path(PoolID(id)), Code: why.ShareNone,
		Text: fmt.Sprintf("%s has a load of 0%%, and is never served under rounding: scoot", s.Path(PoolID(id))),
	}, true
}

func jobGate(b *begun) why.Gate {
	g := why.Gate{Name: "max_running", Where: "job", Open: !b.capped(), Used: fmt.Sprint(b.running), Limit: fmt.Sprint(b.most)}
	if !g.Open {
		g.Code = why.GateJobTasks
	}
	return g
}

func (s *Scheduler) limitGates(id PoolID, l Limits, shape cluster.Shape) []why.Gate {
	var gates []why.Gate
	path := cmp.Or(s.Path(id), "root")
	var request cluster.Amounts
	n := int64(0)
	if shape != noShape {
		request, n = s.cluster.Amounts(s.cluster.Request(shape)), s.atOnce(shape)
	}
	if l.Tasks > 0 {
		atMost := l.AtMaximumOfTasks || int64(s.pools[id].Tasks)+n > int64(l.Tasks)
		g := why.Gate{Name: "max_running", Where: path, Open: !atMost, Used: fmt.Sprint(s.pools[id].Tasks), Limit: fmt.Sprint(l.Tasks)}
		if n > int64(l.Tasks) {
			g.Code, g.Need = why.GateNever, fmt.Sprint(n)
			g.Text = fmt.Sprintf("its %d tasks start all at once, and %s may run %d", n, path, l.Tasks)
		} else if !g.Open {
			g.Code = why.GateMaxTasks
		}
		gates = append(gates, g)
	}
	for name, most := range l.Max {
		g := why.Gate{Name: "max " + name, Where: path, Open: l.Used[name]+n*request[name] <= most, Used: fmt.Sprint(l.Used[name]), Limit: fmt.Sprint(most)}
		if need := n * request[name]; most > 0 && need > most {
			g.Code, g.Need = why.GateNever, fmt.Sprint(need)
		} else if !g.Open {
			g.Code = why.GateMax
		}
		gates = append(gates, g)
	}
	slices.SortFunc(gates, func(a, b why.Gate) int { return cmp.Compare(a.Name, b.Name) })
	return append(gates, s.gangLimit(id, path, shape)...)
}

// nodeGate says on how many nodes a request would fit, and fits now.
func (s *Scheduler) nodeGate(shape cluster.Shape) why.Gate {
	could, now, up := 0, 0, 0
	for i, n := range s.cluster.Nodes() {
		id := cluster.NodeID(i)
		if !n.State.Counts() {
			continue
		}
		up++
		ever, free := s.cluster.SuitsElsewhere(id, shape)
		if ever || s.cluster.Suits(id, shape) {
			could++
		}
		if free || s.cluster.Fits(id, shape) {
			now++
		}
	}
	if s.gangOf(shape) > 0 && could > 0 {
		return s.gangGate(shape)
	}
	away, _ := s.suitingAway(shape)
	g := why.Gate{Name: "nodes", Where: "nodes", Open: now > 0, Used: fmt.Sprint(now), Limit: fmt.Sprint(could)}
	switch {
	case len(s.cluster.Nodes()) == 0:
		g.Code, g.Text = why.NoNodes, "no node has joined yet"
	case up == 0:
		g.Code, g.Text = why.NoNodes, fmt.Sprintf("no node takes tasks (%d are drained, in maintenance or down)", len(s.cluster.Nodes()))
	case could == 0 && away != "" && len(s.cluster.Must(shape)) > 0:
		g.Code, g.Text = why.NoNodes, "the only nodes that satisfy what it asks for are "+away
	case could == 0 && away != "":
		g.Code, g.Text = why.NoNodes, "the only nodes that are large enough are "+away
	case could == 0 && !s.cluster.Could(shape) && len(s.cluster.Must(shape)) > 0:
		g.Code, g.Text = why.FitNever, "no node satisfies what it asks for, not even an empty one"
	case could == 0 && !s.cluster.Could(shape):
		g.Code, g.Text = why.FitNever, "no node is large enough, not even an empty one"
	case now > 0:
		g.Text = fmt.Sprintf("%d of %d nodes could take it, %d now", could, up, now)
	default:
		g.Code, g.Text = why.FitNow, fmt.Sprintf("%d of %d nodes could take it, none has room now", could, up)
	}
	return g
}

// suitingAway says which nodes could take tasks of a shape if they took any, and why they do
// not, and for how many tasks there would be room on them.
func (s *Scheduler) suitingAway(shape cluster.Shape) (text string, tasks int) {
	var names []string
	all := "down"
	for i, n := range s.cluster.Nodes() {
		if n.State.Counts() || s.cluster.Suits(cluster.NodeID(i), shape) || !n.Capacity.Covers(s.cluster.Request(shape)) || !s.cluster.Must(shape).Allows(n.Labels) {
			continue
		}
		if n.State != cluster.Down {
			all = "drained or down"
		}
		names = append(names, n.Name)
		tasks += s.cluster.FitAway(cluster.NodeID(i), shape)
	}
	if names == nil {
		return "", 0
	}
	return all + ": " + strings.Join(names, ", "), tasks
}
