package engine

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
)

// setState updates the state of a node in the core.
func (s *State) setState(node string, now time.Time) {
	id, known := s.Core.Cluster().Lookup(node)
	if _, other := s.Others.Nodes[node]; known && !other { // the other server reports its state
		s.Core.SetNode(id, s.stateOf(node, s.Joined[node]), now)
	}
}

// downNode adds a node that only the store knows: it runs a task, and has not joined this server yet.
func (s *State) downNode(name string, now time.Time) cluster.NodeID {
	var labels cluster.Labels
	if kind := s.InForce.bridges[name]; kind != "" {
		labels = cluster.Labels{BridgeLabel: kind}
	}
	id := s.Core.JoinLabelled(name, nil, labels, now)
	s.Core.SetNode(id, cluster.Down, now)
	return id
}

// BridgeLabel is the label of a node that stands for another queueing system; its value is the
// kind of the bridge.
const BridgeLabel = "bridge"

// placeNode updates a node in the core.
func (s *State) placeNode(name string, m *joinedNode) {
	now := time.Now()
	capacity := cluster.Amounts{}
	for r, n := range m.capacity {
		capacity[r] = n
	}
	id := s.Core.JoinLabelled(name, capacity, m.Info.Labels, now)
	s.Core.Cluster().SetServer(id, "")
	if state := s.stateOf(name, m); state != cluster.Up {
		s.Core.SetNode(id, state, now)
	}
}

// takeOut removes a member. It reports false if the member had left before.
func (s *State) takeOut(m *joinedNode) bool {
	if m.gone {
		return false
	}
	m.gone = true
	delete(s.Joined, m.name)
	if id, ok := s.Core.Cluster().Lookup(m.name); ok {
		s.Core.SetNode(id, cluster.Down, time.Now())
	}
	s.touch()
	return true
}

// stateOf derives the state of a node from its administrator's and its worker's settings (nil: no worker). A silent
// node is down, whatever these settings are, because tasks leased to it would only wait there until the leases run
// out.
func (s *State) stateOf(name string, m *joinedNode) cluster.State {
	d := s.InForce.Drain(name)
	switch {
	case m == nil || m.lost || m.silentFor(time.Now()):
		return cluster.Down
	case d != nil && d.Maintenance:
		return cluster.Maintenance
	case d != nil || m.Draining:
		return cluster.Drain
	}
	return cluster.Up
}

// served returns the nodes of this server.
func (s *State) served() []queue.ServedNode {
	out := make([]queue.ServedNode, 0, len(s.Joined))
	for _, name := range slices.Sorted(maps.Keys(s.Joined)) {
		m := s.Joined[name]
		n := queue.ServedNode{
			Name: name, State: s.stateOf(name, m).String(), Why: s.InForce.Drain(name).Text(),
			Capacity: m.capacity, Labels: m.Info.Labels, Version: m.Info.Version, Host: m.Info.Host, Seen: m.Seen,
		}
		if id, ok := s.Core.Cluster().Lookup(name); ok && s.Core.Cluster().Nodes()[id].State == cluster.Down {
			n.State = cluster.Down.String()
		}
		out = append(out, n)
	}
	return out
}

// placePeers updates the nodes of other servers in the core.
func (s *State) placePeers(now time.Time) {
	s.Core.LeaveStops(s.Others.Record())
	there := nodesOf(s.Others.roll)
	for _, name := range slices.Sorted(maps.Keys(there)) {
		n := there[name]
		if s.Joined[name] != nil || reflect.DeepEqual(n, s.Others.Nodes[name]) {
			continue
		}
		s.Others.Nodes[name] = n
		id := s.Core.JoinLabelled(name, cluster.Amounts(n.Capacity), n.Labels, now)
		s.Core.Cluster().SetServer(id, n.Server)
		s.Core.SetNode(id, peerState(n.State), now)
	}
	for name := range s.Others.Nodes {
		_, still := there[name]
		if own := s.Joined[name] != nil; still && !own {
			continue
		} else if id, ok := s.Core.Cluster().Lookup(name); ok && !own {
			s.Core.SetNode(id, cluster.Down, now)
		}
		delete(s.Others.Nodes, name)
	}
}

// down keeps tasks away from a node until its worker reports again. It reports whether the node was not down
// before.
func (s *State) down(name string, now time.Time) bool {
	if m := s.Joined[name]; m != nil {
		m.lost = true
	}
	id, known := s.Core.Cluster().Lookup(name)
	if !known || s.Core.Cluster().Nodes()[id].State == cluster.Down {
		return false
	}
	s.Core.SetNode(id, cluster.Down, now)
	s.touch()
	return true
}

// nodeOf returns the node of a holder, and adds an unknown one.
func (s *State) nodeOf(holder string, now time.Time) cluster.NodeID {
	node, known := s.Core.Cluster().Lookup(holder)
	if !known {
		node = s.downNode(holder, now)
	}
	return node
}

// placeAll adds all nodes to a new core, including those of other servers.
func (s *State) placeAll(now time.Time) {
	for name, m := range s.Joined {
		s.placeNode(name, m)
	}
	clear(s.Others.Nodes)
	clear(s.Others.doubts)
	s.placePeers(now)
}
