package sched

import (
	"iter"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// windowGate holds jobs back until the window that they ask for begins. A preview also shows these jobs.
type windowGate struct {
	openKind
	h      *gates
	parked []subRef
}

func (w *windowGate) fork(h *gates) gateKind {
	return &windowGate{h: h, parked: slices.Clone(w.parked)}
}

func (w *windowGate) holds(_ int32, at subRef) (pool int32, held bool) {
	windows := w.h.site.cluster.Windows()
	if w.h.site.oneByOne || windows.HasBegun(w.h.site.cluster.Window(w.h.queues.sub(at).key)) {
		return -1, false
	}
	w.parked = append(w.parked, at)
	return -1, true
}

func (w *windowGate) sleeps() bool { return !w.h.site.windowed }

func (w *windowGate) noted() iter.Seq[subRef] { return slices.Values(w.parked) }

func (w *windowGate) restart() { w.parked = nil }

// passWindows lets windows begin and end.
func (h *gates) passWindows() {
	if h.site.cluster.PassWindows(h.site.instantOf()) {
		h.windowsChanged()
	}
}

// windowsChanged lets the sub-queues that windows held back try again.
func (h *gates) windowsChanged() {
	h.site.events++
	h.turns.measure()
	h.turns.resized()
	h.returning(&h.kinds[byWindow-byMax].(*windowGate).parked, byWindow)
	h.openFits()
}

// ofKey is the gate of the window that tasks ask for.
func (w *windowGate) ofKey(key cluster.Key) []why.Gate {
	name := w.h.site.cluster.Window(key)
	if name == "" {
		return nil
	}
	g := why.Gate{Name: "reservation", Where: name, Open: w.h.site.cluster.Windows().HasBegun(name)}
	for _, of := range w.h.site.cluster.Windows().All() {
		if of.Name == name && !of.Closed {
			g.Window = whyWindow(&of)
			if !g.Open {
				g.Code = why.GateReservation
			}
			return []why.Gate{g}
		}
	}
	g.Open, g.Code = false, why.ReservationOver
	return []why.Gate{g}
}

func whyWindow(w *cluster.Window) *why.Window {
	return &why.Window{Name: w.Name, Nodes: w.Nodes, Maintenance: w.Closed, From: time.Unix(0, w.From), To: time.Unix(0, w.To)}
}
