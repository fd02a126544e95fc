package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// Thousands of shapes may have been seen of which a few wait now: what is asked of all
// shapes at each decision is asked of those only.

// shapeCounts counts something by shape, and lists the shapes of which there is some.
type shapeCounts struct {
	n      []int32
	place  []int32 // in active
	active []cluster.Shape
	last   cluster.Shape // that had room when it was last looked for
}

func (c *shapeCounts) add(shape cluster.Shape, by int32) {
	for len(c.n) <= int(shape) {
		c.n, c.place = append(c.n, 0), append(c.place, 0)
	}
	was := c.n[shape]
	c.n[shape] = was + by
	switch {
	case was == 0 && by != 0:
		c.place[shape] = int32(len(c.active))
		c.active = append(c.active, shape)
	case was != 0 && was+by == 0:
		last := c.active[len(c.active)-1]
		c.active[c.place[shape]], c.place[last] = last, c.place[shape]
		c.active = c.active[:len(c.active)-1]
	}
}

func (c *shapeCounts) clear() {
	clear(c.n)
	c.active = c.active[:0]
}

func (c *shapeCounts) clone() shapeCounts {
	return shapeCounts{slices.Clone(c.n), slices.Clone(c.place), slices.Clone(c.active), c.last}
}

// shapeLines are the lines that wait for room, by shape.
type shapeLines struct {
	of     [][]lineRef
	active []cluster.Shape // of which some wait
	fit    []cluster.Shape // scratch
}

func (w *shapeLines) add(shape cluster.Shape, at lineRef) {
	for len(w.of) <= int(shape) {
		w.of = append(w.of, nil)
	}
	if len(w.of[shape]) == 0 {
		w.active = append(w.active, shape)
	}
	w.of[shape] = append(w.of[shape], at)
}

// fitting lists the shapes for which there is room, by number.
func (w *shapeLines) fitting(c *cluster.Cluster) []cluster.Shape {
	w.fit = w.fit[:0]
	for _, shape := range w.active {
		if c.Room(shape) {
			w.fit = append(w.fit, shape)
		}
	}
	slices.Sort(w.fit)
	return w.fit
}

// take removes and returns the lines of a shape. They are valid until one is added.
func (w *shapeLines) take(shape cluster.Shape) []lineRef {
	refs := w.of[shape]
	w.of[shape] = refs[:0]
	w.active = slices.DeleteFunc(w.active, func(a cluster.Shape) bool { return a == shape })
	return refs
}

// takeIf removes those lines of the shapes that are wanted, and appends them to a list.
func (w *shapeLines) takeIf(shapes []cluster.Shape, to []lineRef, wanted func(lineRef) bool) []lineRef {
	for _, shape := range shapes {
		left := w.of[shape][:0]
		for _, at := range w.of[shape] {
			if wanted(at) {
				to = append(to, at)
			} else {
				left = append(left, at)
			}
		}
		if w.of[shape] = left; len(left) == 0 {
			w.take(shape)
		}
	}
	return to
}

// all removes and returns all lines, by shape.
func (w *shapeLines) all() (refs []lineRef) {
	slices.Sort(w.active)
	for _, shape := range w.active {
		refs = append(refs, w.of[shape]...)
		w.of[shape] = nil
	}
	w.active = w.active[:0]
	return refs
}

func (w *shapeLines) clear() { *w = shapeLines{} }

// clone copies the lists. Those that are empty keep the room that they once needed, which
// the copy must not write into.
func (w *shapeLines) clone() shapeLines {
	c := shapeLines{of: make([][]lineRef, len(w.of)), active: slices.Clone(w.active)}
	for _, shape := range c.active {
		c.of[shape] = slices.Clone(w.of[shape])
	}
	return c
}
