package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// bridges maps the nodes of bridges to the kinds of their bridges. Tasks that were leased to a bridge continue in its
// queueing system while the bridge or this server is down. The kind then lets users know which bridge to start.
var bridges = override[string]{
	name: "bridge", prefix: "bridged/",
	in: func(s *State) *map[string]string { return &s.InForce.bridges },
}

// keepBridge records the kind of a node's bridge, "" if the node has none. Usually it is recorded already.
func (o *Overrides) keepBridge(ctx context.Context, node, kind string) (err error) {
	err = bridges.change(ctx, o.changer, func(s *State) (*change[string], error) {
		if s.InForce.bridges[node] == kind {
			return nil, nil
		}
		return &change[string]{key: node, x: kind, ends: kind == ""}, nil
	})
	if err != nil {
		return fmt.Errorf("record that the node %s is a bridge: %w", node, err)
	}
	return nil
}

// ForgetNode removes a node that is down and has no tasks, and the record that it belonged to a bridge. The core has
// nodes for good, so the next [Loop.Sync] makes a new one.
func (o *Overrides) ForgetNode(ctx context.Context, node string) error {
	if err := o.keepBridge(ctx, node, ""); err != nil {
		return err
	}
	o.Update(func(s *State) {
		id, known := s.Core.Cluster().Lookup(node)
		if !known || s.Core.Cluster().Nodes()[id].State != cluster.Down {
			return
		}
		if m := s.Joined[node]; m != nil {
			s.takeOut(m)
		}
		delete(s.Faults.nodes, node)
		s.dirty = true
	})
	return nil
}

// WhichBridge says which bridges to start if all nodes that are down belong to bridges. It returns "" if some of
// these nodes do not, or if no node is down. Nodes that have not joined since the server started count, but drained
// nodes do not.
func (f *inForce) WhichBridge(core *sched.Scheduler) string {
	kinds := maps.Clone(f.bridges)
	maps.DeleteFunc(kinds, func(name, _ string) bool { return f.Drain(name) != nil }) // its bridge ended on purpose
	for _, n := range core.Cluster().Nodes() {
		if n.State != cluster.Down {
			delete(kinds, n.Name)
			continue
		}
		if kinds[n.Name] = n.Labels[BridgeLabel]; kinds[n.Name] == "" {
			return ""
		}
	}
	var commands []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		commands = append(commands, fmt.Sprintf("fairlead bridge %s --name %s", kinds[name], name))
	}
	if len(commands) == 0 {
		return ""
	}
	const most = 3
	return "start the bridge again, with the options that it had: " + strings.Join(commands[:min(most, len(commands))], ", or ")
}
