package sched

import (
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// reservationGate is the gate of the window that a job asks for; false if it asks for none.
func (s *Scheduler) reservationGate(shape cluster.Shape) (g why.Gate, asks bool) {
	name := s.cluster.Window(shape)
	if name == "" {
		return g, false
	}
	g = why.Gate{Name: "reservation", Where: name, Open: s.cluster.HasBegun(shape)}
	for _, w := range s.cluster.Windows() {
		if w.Name == name && !w.Closed {
			g.Window = tellWindow(&w)
			if !g.Open {
				g.Code = why.GateReservation
			}
			return g, true
		}
	}
	g.Open, g.Code = false, why.ReservationOver
	return g, true
}

func tellWindow(w *cluster.Window) *why.Window {
	return &why.Window{Name: w.Name, Nodes: w.Nodes, Maintenance: w.Closed, From: time.Unix(0, w.From), To: time.Unix(0, w.To)}
}

// WindowGates are the gates of a job that windows close, or could.
func (s *Scheduler) WindowGates(j Job) []why.Gate {
	var gates []why.Gate
	if g, asks := s.reservationGate(j.Shape); asks {
		gates = append(gates, g)
	}
	return append(gates, s.windowGate(&j, why.Gate{Name: "nodes", Where: "nodes", Open: true}))
}

// windowGate closes the gate of the nodes for a job that windows keep from starting: by its
// limit it would run into one wherever it could run, or wherever there is room for it now.
func (s *Scheduler) windowGate(j *Job, g why.Gate) why.Gate {
	switch {
	case !s.cluster.HasBegun(j.Shape) && g.Code == why.FitNow:
		g.Open, g.Code, g.Text = true, "", "nodes are kept for it when its reservation begins"
		return g
	case !s.cluster.HasBegun(j.Shape) || !s.cluster.Windowed():
		return g
	}
	now, n := s.instantOf(), int(s.atOnce(j.Shape))
	end := now + planned(j.Limit)
	var could, open, fits, starts int // tasks: on suiting nodes, on those open for long, now
	var best int64                    // until when the nodes are open that are so the longest
	var where cluster.NodeID
	for id := range cluster.NodeID(len(s.cluster.Nodes())) {
		ever, fit := s.cluster.FitEver(id, j.Shape), s.cluster.FitNow(id, j.Shape)
		begin, until := s.cluster.Open(id, j.Shape, now)
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
	w := s.inTheWayOf(j.Shape, where, best)
	if w == nil {
		return g
	}
	g.Open, g.Window, g.Code = false, tellWindow(w), why.PolicyReservation
	switch {
	case w.Closed:
		g.Code = why.PolicyMaint
	case w.Name == s.cluster.Window(j.Shape): // its own ends too early
		g.Code = why.ReservationOver
	}
	if best > now {
		g.Window.Most = time.Duration(best - now).Seconds()
	}
	return g
}

// inTheWayOf is the window that closes a node to tasks of a shape at an instant.
func (s *Scheduler) inTheWayOf(shape cluster.Shape, id cluster.NodeID, at int64) *cluster.Window {
	all, name, own := s.cluster.Windows(), s.nodeName(id), s.cluster.Window(shape)
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

// WindowsOn are the windows of a node that are not over, by their beginning.
func (s *Scheduler) WindowsOn(id cluster.NodeID) []why.Window {
	var out []why.Window
	for _, w := range s.cluster.Windows() {
		if w.On(s.nodeName(id)) {
			out = append(out, *tellWindow(&w))
		}
	}
	return out
}

// KeptOn are the jobs that room is kept for on a node, by the last step, in order.
func (s *Scheduler) KeptOn(id cluster.NodeID) (out []why.Kept) {
	if s.backfill.plan == nil {
		return nil
	}
	for _, r := range s.keptRoom() {
		if r.from != unplaced && r.on(id) {
			k := *s.tellKept(&r)
			for _, n := range r.nodes { // once for each task
				if n == id {
					k.Units += int64(s.cluster.Width(r.shape))
				}
			}
			out = append(out, k)
		}
	}
	return out
}
