package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// drains are kept by the names of their nodes: why they take nothing new.
var drains = override[string]{
	name: "drain", prefix: "drain/",
	in:      func(s *State) *map[string]string { return &s.InForce.drained },
	enforce: func(s *State, node, _ string, at moment) { s.setState(node, at.now) },
	lift:    func(s *State, node, _ string, at moment) { s.setState(node, at.now) },
}

// Drained reports whether an administrator has drained a node, or said that it is in
// maintenance, be it there or not.
func (o *Overrides) Drained(node string) bool {
	return read(o.base, func(s *State) bool {
		return s.InForce.drained[node] != ""
	})
}

// SetMaintenance says that somebody works on a node. The node takes nothing new, as a drained one, and
// is shown apart from nodes that may never come back. It lasts over a
// restart, until SetDrained lets the node take tasks again.
func (o *Overrides) SetMaintenance(ctx context.Context, node, why string) error {
	return o.setDrained(ctx, node, maintained+cmp.Or(why, "no reason given"))
}

// SetDrained drains a node for an administrator, or lets it take tasks again. It
// lasts over a restart.
func (o *Overrides) SetDrained(ctx context.Context, node string, drained bool, why string) error {
	if !drained {
		if err := o.mend(ctx, node); err != nil {
			return err
		}
		o.Update(func(s *State) {
			delete(s.Faults, node)
		})
		return o.setDrained(ctx, node, "")
	}
	return o.setDrained(ctx, node, cmp.Or(why, "no reason given"))
}

// setDrained keeps why a node takes nothing new, "" if it does.
func (o *Overrides) setDrained(ctx context.Context, node, why string) error {
	return drains.change(ctx, o.changer, func(s *State) (*change[string], error) {
		_, known := s.Core.Cluster().Lookup(node)
		if was := s.InForce.drained[node]; !known && (why != "" || was == "") { // a drained one may be forgotten since a restart
			return nil, fmt.Errorf("node %q: %w", node, queue.ErrNotFound)
		}
		return &change[string]{key: node, x: why, ends: why == "", at: moment{now: time.Now()}}, nil
	})
}

// mend lets the jobs that a node could not begin go there again: whoever resumes it says that
// it can.
func (o *Overrides) mend(ctx context.Context, node string) error {
	if !read(o.base, func(s *State) bool { return s.Core.Cluster().Excepted(node) }) {
		return nil
	}
	now := time.Now()
	if keeper, ok := o.Store.(queue.Settings); ok {
		if err := keeper.Set(ctx, mendedSetting+node, now.UTC().Format(time.RFC3339Nano)); err != nil {
			return fmt.Errorf("resume %s: %w", node, err)
		}
	}
	return update1(o.base, func(s *State) error {
		s.Mended[node] = now
		s.dirty = true
		return nil
	})
}

// setAside drains the nodes that begin nothing. They take nothing from now on, whatever
// becomes of the setting.
func (o *Overrides) setAside(ctx context.Context) {
	broken := update1(o.base, func(s *State) map[string]string {
		broken, now := s.Faults.broken(), time.Now()
		for node, why := range broken {
			if s.InForce.drained[node] != "" {
				delete(broken, node)
				continue
			}
			s.InForce.drained[node] = why
			s.setState(node, now)
			s.stats.Drained++
			s.touch()
			o.Log.Error("a node is drained: it begins nothing of what it gets", "node", node, "reason", why)
			o.watchers.publish(queue.Event{Task: -1, At: now, Code: "node-drained", Text: node + ": " + why})
		}
		return broken
	})
	for _, node := range slices.Sorted(maps.Keys(broken)) {
		if err := o.setDrained(context.WithoutCancel(ctx), node, broken[node]); err != nil {
			o.Log.Warn("that a node is drained could not be kept; it is until the server ends", "node", node, "error", err)
		}
	}
}
