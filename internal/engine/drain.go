package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// drains maps the names of drained nodes to the reasons.
var drains = override[Drain]{
	name: "drain", prefix: "drain/",
	in:      func(s *State) *map[string]Drain { return &s.InForce.drained },
	decode:  readDrain,
	enforce: func(s *State, node string, _ Drain, at moment) { s.setState(node, at.now) },
	lift:    func(s *State, node string, _ Drain, at moment) { s.setState(node, at.now) },
}

// SetDrained drains a node for an administrator, or sets it to maintenance. If d is nil, it resumes the node. This
// survives a restart. A node in maintenance takes no tasks either, but lists show it apart from nodes that may never
// come back.
//
// by and from say who does it, and from where, for the record of changes. If by is empty, nothing is recorded.
func (o *Overrides) SetDrained(ctx context.Context, node string, d *Drain, by, from string) error {
	if d == nil {
		if err := o.mend(ctx, node); err != nil {
			return err
		}
		o.Update(func(s *State) {
			delete(s.Faults.nodes, node)
			s.Ends.Forget(node, time.Now())
		})
	}
	return o.setDrained(ctx, node, d, by, from)
}

// setDrained records why a node takes no more tasks; nil if the node takes tasks.
func (o *Overrides) setDrained(ctx context.Context, node string, d *Drain, by, from string) error {
	return drains.change(ctx, o.changer, func(s *State) (*change[Drain], error) {
		_, known := s.Core.Cluster().Lookup(node)
		// After a restart, a drained node is unknown until it joins.
		was := s.InForce.Drain(node)
		if !known && (d != nil || was == nil) {
			return nil, queue.Missingf("there is no node %q; see fairlead nodes", node)
		}
		c := &change[Drain]{key: node, ends: d == nil, at: moment{now: time.Now()}}
		if d != nil {
			c.x = *d
		}
		if by != "" {
			what := "drain node"
			if c.ends {
				what = "resume node"
			}
			c.entry = []queue.AuditEntry{{Who: by, From: from, What: what, Subject: node, Old: was.recorded(),
				New: d.recorded()}}
		}
		return c, nil
	})
}

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
			if s.InForce.Drain(node) != nil {
				delete(broken, node)
				continue
			}
			s.InForce.drained[node] = Drain{Reason: why, SetAside: true}
			s.setState(node, now)
			s.stats.Drained++
			s.touch()
			o.Log.Error("drained a node that cannot begin its tasks", "node", node, "reason", why)
			o.watchers.publish(queue.Event{Task: -1, At: now, Code: "node-drained", Text: node + ": " + why})
		}
		return broken
	})
	for _, node := range slices.Sorted(maps.Keys(broken)) {
		d := &Drain{Reason: broken[node], SetAside: true}
		if err := o.setDrained(context.WithoutCancel(ctx), node, d, "fairlead", "scheduler"); err != nil {
			o.Log.Warn("could not store that a node is drained; it stays drained until the server ends",
				"node", node, "error", err)
		}
	}
}
