package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// WindowGates returns the gates of a job that windows close, or could close.
func (v GateView) WindowGates(j Job) []why.Gate {
	gates := v.s.gates.kinds[byWindow-byMax].ofKey(j.Key)
	return append(gates, v.windowGate(&j, why.Gate{Name: "nodes", Where: "nodes", Open: true}))
}

// windowGate closes the gate of the nodes for a job that windows keep from starting. Its time limit would reach
// into a window on all nodes that it could use, or on all nodes with room for it now.
func (v GateView) windowGate(j *Job, g why.Gate) why.Gate {
	switch {
	case !v.s.site.cluster.Windows().HasBegun(v.s.site.cluster.Window(j.Key)) && g.Code == why.FitNow:
		g.Open, g.Code, g.Text = true, "", "nodes are kept for it when its reservation begins"
		return g
	case !v.s.site.cluster.Windows().HasBegun(v.s.site.cluster.Window(j.Key)) || !v.s.site.cluster.Windows().Any():
		return g
	}
	now, n := v.s.site.instantOf(), int(v.s.site.atOnce(j.Key))
	end := now + planned(j.Limit)
	var could, open, fits, starts int // numbers of tasks: on suitable nodes, on those open for long, now
	var best int64                    // the longest time for which suitable nodes stay open
	var where cluster.NodeID
	for id := range cluster.NodeID(len(v.s.site.cluster.Nodes())) {
		ever, fit := 0, v.s.site.cluster.FitNow(id, j.Key)
		if v.s.site.cluster.Empty().Suits(id, j.Key) {
			ever = v.s.site.cluster.Empty().Fit(id, j.Key)
		}
		begin, until := v.s.site.cluster.Nodes()[id].Open(v.s.site.cluster.Window(j.Key), now)
		if begin > now {
			until = now
		}
		could, fits = could+ever, fits+fit
		if until >= end {
			open, starts = open+ever, starts+fit
		} else if ever > 0 && (best == 0 || until > best) {
			best, where = until, id
		}
	}
	if could < n || open >= n && (fits < n || starts >= n) {
		return g
	}
	w := v.inTheWayOf(j.Key, where, best)
	if w == nil {
		return g
	}
	g.Open, g.Window, g.Code = false, whyWindow(w), why.PolicyReservation
	switch {
	case w.Closed:
		g.Code = why.PolicyMaint
	case w.Name == v.s.site.cluster.Window(j.Key): // its own window ends too early
		g.Code = why.ReservationOver
	}
	if best > now {
		g.Window.Max = time.Duration(best - now).Seconds()
	}
	return g
}

// inTheWayOf returns the window that closes a node to tasks with a key at an instant.
func (v GateView) inTheWayOf(key cluster.Key, id cluster.NodeID, at int64) *cluster.Window {
	all, name, own := v.s.site.cluster.Windows().All(), v.s.site.nodeName(id), v.s.site.cluster.Window(key)
	var found *cluster.Window
	for i := range all {
		w := &all[i]
		if !w.On(name) {
			continue
		}
		mine := own != "" && w.Name == own && !w.Closed
		if mine && w.To == at && found == nil || !mine && w.From <= at && at < w.To && (found == nil || w.Closed) {
			found = w
		}
	}
	return found
}

// WindowsOn returns the windows of a node that are not over, by start.
func (v View) WindowsOn(id cluster.NodeID) []why.Window {
	var out []why.Window
	for _, w := range v.s.site.cluster.Windows().All() {
		if w.On(v.s.site.nodeName(id)) {
			out = append(out, *whyWindow(&w))
		}
	}
	return out
}

// KeptOn returns the planned starts on a node, as of the last step, in order.
func (v View) KeptOn(id cluster.NodeID) (out []room.Kept) {
	if v = v.withFirst(); v.s.reserve.backfill.plan == nil {
		return nil
	}
	for r := range v.keptRoom() {
		if r.on(id) {
			k := *v.whyKept(r)
			for _, n := range r.nodes { // once for each task
				if n == id {
					k.Units += int64(v.s.site.cluster.Width(r.key))
				}
			}
			out = append(out, k)
		}
	}
	return out
}
