package views

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// NodeView is a node as `fairlead nodes` shows it.
type NodeView struct {
	Name  string `json:"name"`
	State string `json:"state"` // up, drain, down, maintenance
	Why   string `json:"why,omitempty"`
	// Drained is set if an administrator drained the node: in the states drain and maintenance, and while it is down.
	Drained bool `json:"drained,omitempty"`
	// SetAside is set if the server drained the node because it began none of its tasks.
	SetAside bool `json:"set_aside,omitempty"`
	// Drain has the parts of Why: who drained the node, and for which reason. It is missing unless Drained is set.
	Drain    *engine.Drain `json:"drain,omitempty"`
	Capacity queue.Amounts `json:"capacity"`
	Free     queue.Amounts `json:"free"`
	// Uncounted are the resources without a limit: a bridge takes any amount of them.
	Uncounted []string `json:"uncounted,omitempty"`
	Tasks     int      `json:"tasks"`
	// HoldsUp is set for a lost node. It is the number of waiting jobs that this node could run and none of the nodes
	// that take tasks could.
	HoldsUp int `json:"holds_up,omitempty"`
	// NoneWaits says that no task waits anywhere in the cluster.
	NoneWaits bool `json:"none_waits,omitempty"`

	Seen time.Time `json:"last_seen"`
	// Silent is the instant since which the node's agent has had no connection with the server that lists the node, if
	// the node is not lost yet.
	Silent  *time.Time `json:"silent_since,omitempty"`
	Version string     `json:"version,omitempty"`
	Host    string     `json:"host,omitempty"`
	Server  string     `json:"server,omitempty"` // the other server that has it, if one does
	// Labels are the labels to which constraints of jobs refer.
	Labels map[string]string `json:"labels,omitempty"`
	// Windows are the node's reservations and maintenances that are not over, by their beginning. Kept lists the first
	// of the jobs for which room is kept on the node.
	Windows []why.Window `json:"windows,omitempty"`
	// Fault is the present streak of tasks that the node did not begin.
	Fault *engine.Fault `json:"fault,omitempty"`
	Kept  []room.Kept   `json:"kept,omitempty"`
}

// InUse returns the amount of a resource that is in use.
func (v *NodeView) InUse(resource string) int64 { return v.Capacity[resource] - v.Free[resource] }

// Endless reports whether a resource has no limit.
func (v *NodeView) Endless(resource string) bool { return slices.Contains(v.Uncounted, resource) }

// Has returns the total amount of a resource. If the resource has no limit, it returns the amount in use.
func (v *NodeView) Has(resource string) int64 {
	if v.Endless(resource) {
		return v.InUse(resource)
	}
	return v.Capacity[resource]
}

// Nodes returns all nodes that have joined since the engine was created.
func Nodes(l *engine.Loop) []NodeView {
	return engine.Read(l, func(s *engine.State) []NodeView {
		var out []NodeView
		c, now := s.Core.Cluster(), time.Now()
		s.Core.Advance(now) // windows may have begun or ended
		held, noneWaits := explain.HeldUpIn(s), s.Core.View(sched.Root).Waiting == 0
		for i, n := range c.Nodes() {
			v := NodeView{Name: n.Name, State: n.State.String(), Labels: n.Labels.Own(), Tasks: n.Running,
				Capacity: engine.Shown(c.Amounts(n.Capacity)), Free: queue.Amounts{}}
			free := c.Amounts(n.Free)
			for r := range v.Capacity {
				v.Free[r] = max(0, free[r])
				if x := c.Number(r); x < len(n.Uncounted) && n.Uncounted[x] {
					v.Uncounted = append(v.Uncounted, r)
				}
			}
			slices.Sort(v.Uncounted)
			if m := s.Joined[n.Name]; m != nil {
				v.Seen, v.Version, v.Host = m.Seen, m.Info.Version, m.Info.Host
				if m.Draining {
					v.Why = "its agent is stopping"
				}
			}
			if v.Drain = s.InForce.Drain(n.Name); v.Drain != nil {
				v.Why, v.Drained, v.SetAside = v.Drain.Text(), true, v.Drain.SetAside
			}
			v.Fault = s.Faults.Row(n.Name)
			v.NoneWaits = noneWaits
			v.HoldsUp = held.Jobs(func(node string) bool { return node == n.Name })
			addPeer(s, &v, cluster.NodeID(i))
			addWindows(s, &v, cluster.NodeID(i), now)
			out = append(out, v)
		}
		return out
	})
}

// addPeer fills in what another server has announced about its node.
func addPeer(s *engine.State, v *NodeView, id cluster.NodeID) {
	n, is := s.Others.Nodes[v.Name]
	if !is {
		return
	}
	v.Server, v.Version, v.Host, v.Seen = n.Server, n.Version, n.Host, s.Others.Server(n.Server).Seen
	if v.Why == "" {
		v.Why = n.Why
	}
	if s.Core.Cluster().Nodes()[id].State == cluster.Elsewhere {
		v.State = cluster.Up.String()
	}
}

// addWindows adds the windows of a node, and the jobs for which room is kept on it.
func addWindows(s *engine.State, v *NodeView, id cluster.NodeID, now time.Time) {
	v.Windows, v.Kept = s.Core.Read().WindowsOn(id), s.Core.Read().KeptOn(id)
	if len(v.Kept) > keptShown {
		v.Kept = v.Kept[:keptShown]
	}
	if text := explain.WindowState(v.Windows, now); text != "" && v.Why == "" {
		v.Why = text
	}
}

// keptShown is the maximum number of jobs in Kept.
const keptShown = 10

// Away returns the units of the nodes that are down, drained or in maintenance.
func Away(l *engine.Loop) (units int64) {
	return engine.Read(l, func(s *engine.State) (units int64) {
		c := s.Core.Cluster()
		unit := c.Number(c.Unit())
		for _, n := range c.Nodes() {
			if !n.State.Counts() && unit < len(n.Capacity) && !(unit < len(n.Uncounted) && n.Uncounted[unit]) {
				units += n.Capacity[unit]
			}
		}
		return units
	})
}

// Endless reports whether a bridge takes any amount of the unit.
func Endless(l *engine.Loop) bool {
	return engine.Read(l, func(s *engine.State) bool {
		_, _, endless := s.Core.Read().Capacity()
		return endless
	})
}
