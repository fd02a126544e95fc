package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why/room"
)

// maxUses is the largest number of tasks and planned starts in the evidence of a planned start.
const maxUses = 2000

// planOf returns the numbers that a planned start follows from. It returns nil if there are too many, if a
// bridge takes any amount of a resource there, or if only licenses are held.
func (v View) planOf(r *reserved) *room.Plan {
	if r.lacksLicense {
		return nil
	}
	c, now := v.s.site.cluster, v.s.site.instantOf()
	p := &room.Plan{At: time.Unix(0, now), Need: v.needs(r.key)}
	at := map[cluster.NodeID]int{}
	for _, id := range r.nodes {
		i, known := at[id]
		if !known {
			n := &c.Nodes()[id]
			if len(n.Uncounted) > 0 {
				return nil
			}
			i, at[id] = len(p.Nodes), len(p.Nodes)
			p.Nodes = append(p.Nodes, room.Node{Name: n.Name, Has: c.Amounts(n.Capacity)})
		}
		p.Nodes[i].Tasks++
	}
	b := &v.s.reserve.backfill
	switch {
	case c.Windows().Any():
		p.Also = "reservations and maintenance"
	case v.s.quotas.holdsLicense(r.key):
		p.Also = "licenses"
	case v.s.site.plans == plansFirst && b.looks.events != b.events:
		p.Also = "the last search, because not every event causes one"
	case v.s.site.plans == plansAll && b.stable:
		p.Also = "the order in which planned starts moved, each once after an event"
	}
	uses := 0
	add := func(id cluster.NodeID, u room.Use, key cluster.Key) {
		if i, on := at[id]; on {
			uses++
			u.Late = u.From == nil && u.Until.UnixNano() <= now
			u.Takes = v.needs(key)
			p.Nodes[i].Uses = append(p.Nodes[i].Uses, u)
		}
	}
	for i := range v.s.running.runs {
		if x := &v.s.running.runs[i]; x.used {
			add(x.node, room.Use{Job: x.job, Until: time.Unix(0, x.until), Predicted: x.limit == 0}, x.key)
		}
	}
	for job, x := range v.s.departures.heldDown {
		for _, h := range x.held {
			add(h.node, room.Use{Job: job, Until: time.Unix(0, h.until)}, h.key)
		}
	}
	for _, g := range v.s.departures.stops.together {
		for _, h := range g.held {
			add(h.node, room.Use{Until: time.Unix(0, h.until)}, h.key)
		}
	}
	for x := range v.keptRoom() {
		if x != r && !(x.held && x.lacksLicense) {
			from := time.Unix(0, x.from)
			for _, id := range x.nodes {
				add(id, room.Use{Job: x.job, From: &from, Until: time.Unix(0, x.until())}, x.key)
			}
		}
	}
	if uses > maxUses {
		return nil
	}
	return p
}

// expected says when the nodes that are held for a job are expected to have its room.
func (v View) expected(r *reserved, k *room.Kept) {
	plan := v.planOf(r)
	if plan == nil {
		return
	}
	from, late, found := plan.Earliest(k.To.Sub(k.From))
	switch {
	case late || v.s.running.lateAmong(r.nodes):
		k.Predicted, k.Overdue = true, true
	case found:
		k.From, k.To, k.Overdue = from, from.Add(k.To.Sub(k.From)), false
	}
}

// needs are the amounts that a task with a key takes on its node.
func (v View) needs(key cluster.Key) map[string]int64 {
	return v.s.site.cluster.Amounts(v.s.site.cluster.Request(key))
}

// behind describes a planned start that keeps another job from starting.
func (v GateView) behind(r *reserved, j *Job) *room.Kept {
	of := *j
	return v.s.Read().whyKept(r).WithPlan(func() *room.Plan {
		p := v.s.Read().planOf(r)
		if p != nil {
			p.Behind = &room.Behind{Need: v.s.Read().needs(of.Key), Lasting: v.lasting(r, &of)}
			p.Behind.From = time.Unix(0, max(r.from, v.s.site.instantOf()))
			p.Behind.Seconds = time.Duration(v.endOf(r, &of) - v.s.site.instantOf()).Seconds()
		}
		return p
	})
}
