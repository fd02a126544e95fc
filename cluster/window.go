package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Window is a time span in which nodes serve only the tasks that ask for the window by name, or no tasks at all. A
// task may start on a node only if it is planned to end before another window opens there. A task that asks for a
// window may start only in that window.
type Window struct {
	Name     string   // unique
	Nodes    []string // nodes that have joined or may join
	From, To int64    // in integers of a unit that the caller chooses; To is exclusive
	Closed   bool     // maintenance: no task may run
}

// On reports whether the window applies to a node.
func (w *Window) On(node string) bool { return slices.Contains(w.Nodes, node) }

// Forever is later than everything.
const Forever = math.MaxInt64

// Calendar has all windows that are not over, and the time up to which it has advanced.
type Calendar struct {
	all  []Window
	now  int64
	edge int64 // the next instant at which a window begins or ends
}

// span is a window as stored for a node; an empty name means maintenance.
type span struct {
	from, to int64
	name     string
}

// spans are the windows of a node, by start. They are replaced, never changed.
type spans []span

// All returns the windows in the order in which they were given.
func (w *Calendar) All() []Window { return w.all }

// Any reports whether there are windows that are not over.
func (w *Calendar) Any() bool { return len(w.all) > 0 }

// NextEdge is the next instant at which a window begins or ends; [Forever] if there is none.
func (w *Calendar) NextEdge() int64 {
	if !w.Any() {
		return Forever
	}
	return w.edge
}

// HasBegun reports whether the named window is open now. The empty name always is.
func (w *Calendar) HasBegun(name string) bool {
	return name == "" || slices.ContainsFunc(w.all, func(x Window) bool {
		return x.Name == name && !x.Closed && x.From <= w.now
	})
}

// concern reports whether windows matter to tasks that request the given window, or none.
func (w *Calendar) concern(window string) bool { return w.Any() || window != "" }

// pass drops the windows that are over, and finds the next edge.
func (w *Calendar) pass() {
	w.all = slices.DeleteFunc(w.all, func(x Window) bool { return x.To <= w.now })
	w.edge = Forever
	for _, x := range w.all {
		if x.From > w.now {
			w.edge = min(w.edge, x.From)
		}
		w.edge = min(w.edge, x.To)
	}
}

// byNode returns the windows of all nodes, by node name.
func (w *Calendar) byNode() map[string]spans {
	of := map[string]spans{}
	for i := range w.all {
		for _, name := range w.all[i].Nodes {
			of[name] = append(of[name], w.all[i].span())
		}
	}
	return of
}

// of returns the windows of one node.
func (w *Calendar) of(node string) (of spans) {
	for i := range w.all {
		if x := &w.all[i]; x.On(node) {
			of = append(of, x.span())
		}
	}
	return of.sorted()
}

func (w *Calendar) clone() Calendar {
	d := *w
	d.all = slices.Clone(w.all)
	return d
}

func (w *Window) span() span {
	if w.Closed {
		return span{w.From, w.To, ""}
	}
	return span{w.From, w.To, w.Name}
}

func (w spans) sorted() spans {
	slices.SortStableFunc(w, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return w
}

// next is the first time span, not before from, in which the node is open to tasks that request the window, or
// none; begin is Forever if there is none.
func (w spans) next(window string, from int64) (begin, end int64) {
	if window == "" {
		return w.gap("", from, Forever)
	}
	for _, own := range w {
		if own.name == window && own.to > from {
			if begin, end := w.gap(window, max(from, own.from), own.to); begin < end {
				return begin, end
			}
		}
	}
	return Forever, Forever
}

// gap is the first time span in [begin, end) in which there is no window other than the task's own.
func (w spans) gap(own string, begin, end int64) (int64, int64) {
	for _, x := range w {
		switch {
		case x.to <= begin || x.name != "" && x.name == own:
		case x.from <= begin:
			begin = x.to
		case x.from < end:
			return begin, x.from
		}
		if begin >= end {
			return Forever, Forever
		}
	}
	return begin, end
}

// access says who may use a node, and when.
type access struct {
	windows   spans
	boundless bool // windows do not affect it, and tasks do not use up its room
}

// Open is the first time span, not before the instant from, in which the node's windows leave it open to tasks
// that request the given window, or no window. If there is no such span, begin is Forever.
func (a *access) Open(window string, from int64) (begin, end int64) {
	if a.boundless || len(a.windows) == 0 && window == "" {
		return from, Forever
	}
	return a.windows.next(window, from)
}

// OpenFor reports whether the node is open to tasks that request the window, or none, throughout [from, to).
func (a *access) OpenFor(window string, from, to int64) bool {
	begin, end := a.Open(window, from)
	return begin <= from && end >= to
}

// opens reports whether the node is open to tasks that request the window, or none, now.
func (a *access) opens(window string, now int64) bool {
	if len(a.windows) == 0 && window == "" {
		return true
	}
	begin, _ := a.Open(window, now)
	return begin <= now
}

// openings is the first time span, not before the instant from, in which the node is open to such tasks. The
// results begin and end are the bounds of the span. The result "last" is at most the argument "before": tasks of
// the given length that fit into the span begin before the instant "last".
func (a *access) openings(window string, length, from, before int64) (begin, last, end int64) {
	begin, end = a.Open(window, from)
	if last = before; end < Forever {
		last = min(last, end-length+1)
	}
	return begin, last, end
}

// key distinguishes, for the classes, nodes with different windows or with different numbers of windows that have
// begun.
func (a *access) key(now int64) string {
	switch {
	case a.boundless:
		return " boundless"
	case len(a.windows) == 0:
		return ""
	}
	begun := 0
	for _, x := range a.windows {
		if x.from <= now {
			begun++
		}
	}
	return fmt.Sprintf(" %v %d", a.windows, begun)
}
