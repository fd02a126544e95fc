package cluster

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Window is a time for which nodes are kept for the tasks that ask for it by its name, and
// take no others; or for none at all. A task may start on a node only if it is planned to
// end before a window opens there that is not its own, and one that asks for a window only
// in that one.
type Window struct {
	Name     string   // no two have the same
	Nodes    []string // that have joined or may join
	From, To int64    // in whatever whole numbers the caller counts; To is not part of it
	Closed   bool     // maintenance: for no task at all
}

// On reports whether it is on a node.
func (w *Window) On(node string) bool { return slices.Contains(w.Nodes, node) }

// calendar is all windows that are not over, and the time as far as they are concerned.
type calendar struct {
	all  []Window
	now  int64
	edge int64 // the next instant at which one begins or ends
}

// span is a window as a node has it: without a name it is for no task at all.
type span struct {
	from, to int64
	name     string
}

// spans are those of a node, by their beginning. They are replaced, never changed.
type spans []span

// SetWindows puts windows into the place of those that there are.
func (c *Cluster) SetWindows(all []Window, now int64) {
	c.windows.all, c.windows.now = slices.Clone(all), now
	c.enforceWindows()
}

// PassWindows lets windows begin and end up to now, and reports whether any did. It has to
// be called before an instant behind [Cluster.NextEdge] is asked about.
func (c *Cluster) PassWindows(now int64) bool {
	if len(c.windows.all) == 0 || now < c.windows.edge {
		return false
	}
	c.windows.now = now
	c.enforceWindows()
	return true
}

// enforceWindows brings all nodes up to date.
func (c *Cluster) enforceWindows() {
	w := &c.windows
	w.all = slices.DeleteFunc(w.all, func(x Window) bool { return x.To <= w.now })
	w.edge = Forever
	for _, x := range w.all {
		if x.From > w.now {
			w.edge = min(w.edge, x.From)
		}
		w.edge = min(w.edge, x.To)
	}
	of := map[string]spans{}
	for i := range w.all {
		for _, name := range w.all[i].Nodes {
			of[name] = append(of[name], w.all[i].span())
		}
	}
	for i := range c.nodes {
		if n := &c.nodes[i]; len(n.windows)+len(of[n.Name]) > 0 {
			c.change(NodeID(i), func(n *Node) { n.windows = of[n.Name].sorted() })
		}
	}
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

// windowsOf are those of a node that joins.
func (c *Cluster) windowsOf(node string) (of spans) {
	for i := range c.windows.all {
		if x := &c.windows.all[i]; x.On(node) {
			of = append(of, x.span())
		}
	}
	return of.sorted()
}

// Windows are those that are not over, in the order in which they were given.
func (c *Cluster) Windows() []Window { return c.windows.all }

// Windowed reports whether there are windows that are not over.
func (c *Cluster) Windowed() bool { return len(c.windows.all) > 0 }

// NextEdge is the next instant at which a window begins or ends; [Forever] if there is none.
func (c *Cluster) NextEdge() int64 {
	if !c.Windowed() {
		return Forever
	}
	return c.windows.edge
}

// next is the first time from an instant on in which a node is open to the tasks that ask for
// a window, or for none; it begins at Forever if there is none.
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

// gap is the first time from begin on, and before end, in which there is no window but one's
// own.
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

// Open is the first time from an instant on in which a node is open to tasks of a shape, as
// far as windows go; it begins at Forever if there is none.
func (c *Cluster) Open(id NodeID, s Shape, from int64) (begin, end int64) {
	return c.nodes[id].open(c.shapes[s].window, from)
}

// access is who may use a node, and when.
type access struct {
	windows   spans
	boundless bool // no window concerns it
}

func (a *access) open(window string, from int64) (begin, end int64) {
	if a.boundless || len(a.windows) == 0 && window == "" {
		return from, Forever
	}
	return a.windows.next(window, from)
}

// opens reports whether a node is open to those who ask for a window, or for none, now.
func (a *access) opens(window string, now int64) bool {
	if len(a.windows) == 0 && window == "" {
		return true
	}
	begin, _ := a.open(window, now)
	return begin <= now
}

// asksWindows reports whether windows matter to tasks of a shape.
func (c *Cluster) asksWindows(s Shape) bool { return c.Windowed() || c.shapes[s].window != "" }

// openings is the first time from an instant on in which a node is open to tasks of a shape:
// its beginning, the instant, at most before, up to which those of a length may begin in it,
// and its end.
func (c *Cluster) openings(id NodeID, s Shape, length, from, before int64) (begin, last, end int64) {
	begin, end = c.Open(id, s, from)
	if last = before; end < Forever {
		last = min(last, end-length+1)
	}
	return begin, last, end
}

// OpenFor reports whether a node is open to a task of a shape from an instant up to another.
func (c *Cluster) OpenFor(id NodeID, s Shape, from, to int64) bool {
	begin, end := c.Open(id, s, from)
	return begin <= from && end >= to
}

// Window is the name of the window that tasks of the shape ask for, "" for none.
func (c *Cluster) Window(s Shape) string { return c.shapes[s].window }

// HasBegun reports whether the window of a shape, if it asks for one, is open at this time.
func (c *Cluster) HasBegun(s Shape) bool {
	name := c.shapes[s].window
	return name == "" || slices.ContainsFunc(c.windows.all, func(w Window) bool {
		return w.Name == name && !w.Closed && w.From <= c.windows.now
	})
}

// PlaceUntil is Place for a task that is planned to run from now to end.
func (c *Cluster) PlaceUntil(s Shape, now, end int64) (NodeID, bool) {
	if !c.Windowed() {
		return c.Place(s)
	}
	return c.PlaceOn(s, func(id NodeID) bool { return c.OpenFor(id, s, now, end) })
}

// PlaceGangUntil is PlaceGang for tasks that are planned to run from now to end.
func (c *Cluster) PlaceGangUntil(s Shape, now, end int64, to []NodeID) ([]NodeID, bool) {
	if !c.Windowed() {
		return c.PlaceGang(s, nil, to)
	}
	return c.PlaceGang(s, func(id NodeID) (int, bool) {
		if !c.OpenFor(id, s, now, end) {
			return 0, false
		}
		return math.MaxInt, false
	}, to)
}

// JoinBoundless adds a node that no window concerns.
func (c *Cluster) JoinBoundless(name string, capacity Amounts) NodeID {
	id := c.Join(name, capacity)
	c.change(id, func(n *Node) { n.boundless = true })
	return id
}

// key tells apart, for the classes of nodes, those whose windows are not the same, or of
// which one has begun meanwhile.
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

// effective is the state of a node by what is said of it and its windows.
func (n *Node) effective(now int64) State {
	if !n.said.Counts() {
		return n.said
	}
	for _, x := range n.windows {
		if x.name == "" && x.from <= now && now < x.to {
			return Maintenance
		}
	}
	return n.said
}
