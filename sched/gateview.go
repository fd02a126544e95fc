package sched

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// GateView returns a view of the gates that hold jobs back.
func (s *Scheduler) GateView() GateView { return GateView{s} }

// Gates lists the gates on a job's path, closed or open.
func (v GateView) Gates(j Job) []why.Gate {
	gates := append(v.onTheWay(v.s.growth.Leaf(j), j.Key), v.ofKey(j.Key)...)
	if b, ok := v.s.queues.begunOf[j.ID]; ok && v.s.queues.begun[b].max > 0 {
		gates = append(gates, jobGate(&v.s.queues.begun[b]))
	}
	return append(gates, v.windowGate(&j, v.holeGate(&j, v.nodeGate(j.Key))))
}

// PoolGates lists the gates on the path of the jobs of a leaf pool that may start first: of a sub-queue without a
// closed gate, if there is one.
func (v GateView) PoolGates(leaf PoolID) (gates []why.Gate, job int64) {
	first, job, found := v.tellingBelow(int32(leaf))
	if !found {
		return v.onTheWay(leaf, noKey), 0
	}
	return v.SubQueueGates(leaf, first.key), job
}

// FirstGates is [GateView.PoolGates] plus the effects of reservations on these jobs, for which it checks all nodes.
// It also returns the time limit of these jobs.
func (v GateView) FirstGates(leaf PoolID) (gates []why.Gate, limit time.Duration) {
	first, _, found := v.tellingBelow(int32(leaf))
	if !found {
		return v.onTheWay(leaf, noKey), 0
	}
	gates = append(v.onTheWay(leaf, first.key), v.ofKey(first.key)...)
	return append(gates, v.windowGate(&Job{Key: first.key, Limit: first.limit}, v.nodeGate(first.key))), first.limit
}

// tellingBelow returns the request and the number of the first job that waits in or below a pool, from a ready
// sub-queue if there is one.
func (v GateView) tellingBelow(id int32) (first ask, job int64, found bool) {
	if q := v.s.tree.pools[id].queue; q >= 0 {
		first, job = v.s.queues.telling(&v.s.queues.all[q])
		return first, job, v.s.tree.pools[id].Waiting > 0
	}
	for _, kid := range v.s.Read().Children(PoolID(id)) {
		if v.s.tree.pools[kid].Waiting == 0 {
			continue
		}
		of, its, some := v.tellingBelow(int32(kid))
		if some && (!found || v.s.tree.pools[kid].seat.in) {
			first, job, found = of, its, true
		}
		if v.s.tree.pools[kid].seat.in {
			break
		}
	}
	return first, job, found
}

// SubQueueGates lists the gates on the path of the jobs of a pool with a key.
func (v GateView) SubQueueGates(leaf PoolID, key cluster.Key) []why.Gate {
	gates := append(v.onTheWay(leaf, key), v.ofKey(key)...)
	return append(gates, v.nodeGate(key))
}

// onTheWay lists the gates of a leaf pool and the pools above it.
func (v GateView) onTheWay(leaf PoolID, key cluster.Key) []why.Gate {
	var gates []why.Gate
	for id := int32(leaf); id >= 0; id = v.s.tree.pools[id].parent {
		if g, closed := v.servedGate(id); closed {
			gates = append(gates, g)
		}
		for _, k := range v.s.gates.kinds {
			gates = append(gates, k.ofPool(id, key)...)
		}
	}
	return gates
}

// ofKey lists the gates that tasks with a key meet in all pools.
func (v GateView) ofKey(key cluster.Key) (gates []why.Gate) {
	for _, k := range v.s.gates.kinds {
		gates = append(gates, k.ofKey(key)...)
	}
	return gates
}

// servedGate returns a closed gate if a pool is entitled to nothing and its policy never serves such pools.
func (v GateView) servedGate(id int32) (g why.Gate, closed bool) {
	if in := v.s.tree.inAbove(id); in == nil || in.as.allot == nil || in.as.allot.Serves(v.s.tree.pools[id].Weight) {
		return g, false
	}
	return why.Gate{
		Name: "load", Where: v.s.tree.Path(PoolID(id)), Code: why.ShareNone,
		Text: fmt.Sprintf("%s has a load of 0%%, and is never served under rounding: scoot",
			pathOf(v.s.tree.Path(PoolID(id)))),
	}, true
}

func jobGate(b *begun) why.Gate {
	g := why.Gate{Name: "max_running", Where: "job", Open: !b.capped(), Used: fmt.Sprint(b.running), Limit: fmt.Sprint(b.max)}
	if !g.Open {
		g.Code = why.GateJobTasks
	}
	return g
}

// nodeGate says how many nodes could take a request, and how many could take it now.
func (v GateView) nodeGate(key cluster.Key) why.Gate {
	could, now, up := 0, 0, 0
	for i, n := range v.s.site.cluster.Nodes() {
		id := cluster.NodeID(i)
		if !n.State.Counts() {
			continue
		}
		up++
		ever, free := v.s.site.cluster.Empty().SuitsElsewhere(id, key)
		if ever || v.s.site.cluster.Empty().Suits(id, key) {
			could++
		}
		if free || v.s.site.cluster.Fits(id, key) {
			now++
		}
	}
	if v.s.site.gangOf(key) > 0 && could > 0 {
		return v.gangGate(key)
	}
	away, _ := v.suitingAway(key)
	g := why.Gate{Name: "nodes", Where: "nodes", Open: now > 0, Used: fmt.Sprint(now), Limit: fmt.Sprint(could)}
	switch {
	case len(v.s.site.cluster.Nodes()) == 0:
		g.Code, g.Text = why.NoNodes, "no node has joined yet"
	case up == 0:
		g.Code, g.Text = why.NoNodes, fmt.Sprintf("no node takes tasks (%d drained, in maintenance or down)",
			len(v.s.site.cluster.Nodes()))
	case could == 0 && away != "" && len(v.s.site.cluster.Must(key)) > 0:
		g.Code, g.Text = why.NoNodes, "the only nodes that satisfy what it asks for are "+away
	case could == 0 && away != "":
		g.Code, g.Text = why.NoNodes, "the only nodes that are large enough are "+away
	case could == 0 && !v.s.site.cluster.Empty().Could(key) && len(v.s.site.cluster.Must(key)) > 0:
		g.Code, g.Text = why.FitNever, "no node satisfies what it asks for, not even an empty one"
	case could == 0 && !v.s.site.cluster.Empty().Could(key):
		g.Code, g.Text = why.FitNever, "no node is large enough, not even an empty one"
	case now > 0:
		g.Text = fmt.Sprintf("%d of %d nodes could take it, %d now", could, up, now)
	default:
		g.Code, g.Text = why.FitNow, fmt.Sprintf("%d of %d nodes could take it, none has room now", could, up)
	}
	return g
}

// suitingAway names the nodes that could take tasks with a key if they took any, says why they do not, and returns
// for how many tasks they have room.
func (v GateView) suitingAway(key cluster.Key) (text string, tasks int) {
	var names []string
	all := "down"
	for i, n := range v.s.site.cluster.Nodes() {
		if n.State.Counts() || v.s.site.cluster.Empty().Suits(cluster.NodeID(i), key) ||
			!n.Capacity.Covers(v.s.site.cluster.Request(key)) || !v.s.site.cluster.Must(key).Allows(n.Labels) {
			continue
		}
		if n.State != cluster.Down {
			all = "drained or down"
		}
		names = append(names, n.Name)
		tasks += v.s.site.cluster.Empty().Fit(cluster.NodeID(i), key)
	}
	if names == nil {
		return "", 0
	}
	return all + ": " + strings.Join(names, ", "), tasks
}

// gangGate says how many tasks of a gang have room now, and how many could have.
func (v GateView) gangGate(key cluster.Key) why.Gate {
	n, spread := v.s.site.cluster.Gang(key)
	could, now := v.s.site.cluster.Empty().GangRoom(key)
	g := why.Gate{Name: "nodes", Where: "nodes", Open: now >= n, Used: fmt.Sprint(now), Limit: fmt.Sprint(n)}
	away, more := v.suitingAway(key)
	what := fmt.Sprintf("its %d tasks start all at once", n)
	if spread {
		what += ", each on a node of its own"
	}
	switch {
	case g.Open:
		g.Text = fmt.Sprintf("%s; there is room for %d", what, now)
	case could < n && away != "" && could+more >= n:
		g.Code, g.Text = why.NoNodes, fmt.Sprintf(
			"%s, but there is room for only %d while nodes are %s", what, could, away)
	case could < n && !v.s.site.cluster.Empty().Could(key):
		g.Code, g.Text = why.FitNever, fmt.Sprintf("%s, but there is room for only %d, even if nothing else ran", what, could)
	default:
		g.Code, g.Text = why.FitNow, fmt.Sprintf("%s; there is room for %d now", what, now)
	}
	return g
}
