package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// drains maps the names of drained nodes to the reasons.
var drains = override[string]{
	name: "drain", prefix: "drain/",
	in:      func(s *State) *map[string]string { return &s.InForce.drained },
	enforce: func(s *State, node, _ string, at moment) { s.setState(node, at.now) },
	lift:    func(s *State, node, _ string, at moment) { s.setState(node, at.now) },
}

// Drained reports whether an administrator has drained a node or set it to maintenance, even if the node is absent.
func (o *Overrides) Drained(node string) bool {
	return read(o.base, func(s *State) bool {
		return s.InForce.drained[node] != ""
	})
}

// SetMaintenance marks a node as being serviced. Like a drained node it takes no more tasks, but lists show it apart
// from nodes that may never come back. The mark survives a restart, and lasts until SetDrained resumes the node.
//
// by and from say who does it, and from where, for the record of changes. If by is empty, nothing is recorded.
func (o *Overrides) SetMaintenance(ctx context.Context, node, why, by, from string) error {
	return o.setDrained(ctx, node, maintained+cmp.Or(why, "no reason given"), by, from)
}

// SetDrained drains a node for an administrator, or resumes it. This survives a restart. The arguments by and from are
// as in SetMaintenance.
func (o *Overrides) SetDrained(ctx context.Context, node string, drained bool, why, by, from string) error {
	if !drained {
		if err := o.mend(ctx, node); err != nil {
			return err
		}
		o.Update(func(s *State) {
			delete(s.Faults.nodes, node)
			s.Ends.Forget(node)
		})
		return o.setDrained(ctx, node, "", by, from)
	}
	return o.setDrained(ctx, node, cmp.Or(why, "no reason given"), by, from)
}

// setDrained records why a node takes no more tasks; "" if the node takes tasks.
func (o *Overrides) setDrained(ctx context.Context, node, why, by, from string) error {
	return drains.change(ctx, o.changer, func(s *State) (*change[string], error) {
		_, known := s.Core.Cluster().Lookup(node)
		// After a restart, a drained node is unknown until it joins.
		was := s.InForce.drained[node]
		if !known && (why != "" || was == "") {
			return nil, queue.Missingf("there is no node %q; see fairlead nodes", node)
		}
		c := &change[string]{key: node, x: why, ends: why == "", at: moment{now: time.Now()}}
		if by != "" {
			what := "drain node"
			if c.ends {
				what = "resume node"
			}
			c.entry = []queue.AuditEntry{{Who: by, From: from, What: what, Subject: node, Old: asRecorded(was),
				New: asRecorded(why)}}
		}
		return c, nil
	})
}

// asRecorded writes the stored reason of a drain for the record of changes.
func asRecorded(why string) string { return strings.Replace(why, maintained, "maintenance: ", 1) }

// mend lets jobs that a node could not begin go to that node again, because the user who resumes the node vouches for
// it.
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

// setAside drains the nodes that begin no tasks. They take no more tasks from now on, even if the setting cannot be
// stored.
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
			o.Log.Error("drained a node that cannot begin its tasks", "node", node, "reason", why)
			o.watchers.publish(queue.Event{Task: -1, At: now, Code: "node-drained", Text: node + ": " + why})
		}
		return broken
	})
	for _, node := range slices.Sorted(maps.Keys(broken)) {
		if err := o.setDrained(context.WithoutCancel(ctx), node, broken[node], "fairlead",
			"scheduler"); err != nil {
			o.Log.Warn("could not store that a node is drained; it stays drained until the server ends",
				"node", node, "error", err)
		}
	}
}
