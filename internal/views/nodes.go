package views

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// NodeView is a node as `fairlead nodes` shows it.
type NodeView struct {
	Name  string `json:"name"`
	State string `json:"state"` // up, drain, down, maintenance
	Why   string `json:"why,omitempty"`
	// Drained is set if an administrator lets it take nothing new: in the states drain and
	// maintenance, and while it is down.
	Drained  bool          `json:"drained,omitempty"`
	Capacity queue.Amounts `json:"capacity"`
	Free     queue.Amounts `json:"free"`
	// Uncounted are the resources that nobody counts: a bridge takes as much of them as there is.
	Uncounted []string  `json:"uncounted,omitempty"`
	Tasks     int       `json:"tasks"`
	Seen      time.Time `json:"last_seen"`
	Version   string    `json:"version,omitempty"`
	Host      string    `json:"host,omitempty"`
	Server    string    `json:"server,omitempty"` // that has it, if it is another one
	// Labels are what constraints of jobs compare.
	Labels map[string]string `json:"labels,omitempty"`
	// Windows are the reservations and maintenances of the node that are not over, by their
	// beginning; Kept the first of the jobs that room is kept for on it.
	Windows []why.Window `json:"windows,omitempty"`
	// Fault is the row of tasks that the node did not begin, up to now.
	Fault *engine.Fault `json:"fault,omitempty"`
	Kept  []why.Kept    `json:"kept,omitempty"`
}

// InUse is how much of a resource is in use.
func (v *NodeView) InUse(resource string) int64 { return v.Capacity[resource] - v.Free[resource] }

// Endless reports whether nobody counts a resource.
func (v *NodeView) Endless(resource string) bool { return slices.Contains(v.Uncounted, resource) }

// Has is how much there is of a resource. Where nobody counts, it is the amount in use.
func (v *NodeView) Has(resource string) int64 {
	if v.Endless(resource) {
		return v.InUse(resource)
	}
	return v.Capacity[resource]
}

// Nodes returns all nodes that have joined since the loop was made.
func Nodes(l *engine.Loop) []NodeView {
	return engine.Read(l, func(s *engine.State) []NodeView {
		var out []NodeView
		c, now := s.Core.Cluster(), time.Now()
		s.Core.Advance(now) // windows may have begun or ended
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
			if why := s.InForce.DrainedText(n.Name); why != "" {
				v.Why, v.Drained = why, true
			}
			v.Fault = s.Faults.Row(n.Name)
			addPeer(s, &v, cluster.NodeID(i))
			addWindows(s, &v, cluster.NodeID(i), now)
			out = append(out, v)
		}
		return out
	})
}

// addPeer says of a node of another server what that one has said.
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

// addWindows adds to a node what is kept on it, and when.
func addWindows(s *engine.State, v *NodeView, id cluster.NodeID, now time.Time) {
	v.Windows, v.Kept = s.Core.Read().WindowsOn(id), s.Core.Read().KeptOn(id)
	if len(v.Kept) > keptShown {
		v.Kept = v.Kept[:keptShown]
	}
	if text := explain.WindowState(v.Windows, now); text != "" && v.Why == "" {
		v.Why = text
	}
}

// keptShown bounds how many jobs are listed for which room is kept on a node.
const keptShown = 10

// Endless reports whether a bridge takes as much of the unit as there is.
func Endless(l *engine.Loop) bool {
	return engine.Read(l, func(s *engine.State) bool {
		_, _, endless := s.Core.Read().Capacity()
		return endless
	})
}
