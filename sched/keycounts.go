package sched

import (
	"slices"

	"github.com/fairlead/fairlead/cluster"
)

// A scheduler may have seen thousands of keys while waiting jobs have only a few of them. A decision visits only
// these few.

// keyCounts counts something by key, and lists the keys whose count is not 0.
type keyCounts struct {
	n      []int32
	place  []int32 // in active
	active []cluster.Key
	last   cluster.Key // found room at the last search
}

func (c *keyCounts) add(key cluster.Key, by int32) {
	for len(c.n) <= int(key) {
		c.n, c.place = append(c.n, 0), append(c.place, 0)
	}
	was := c.n[key]
	c.n[key] = was + by
	switch {
	case was == 0 && by != 0:
		c.place[key] = int32(len(c.active))
		c.active = append(c.active, key)
	case was != 0 && was+by == 0:
		last := c.active[len(c.active)-1]
		c.active[c.place[key]], c.place[last] = last, c.place[key]
		c.active = c.active[:len(c.active)-1]
	}
}

func (c *keyCounts) clear() {
	clear(c.n)
	c.active = c.active[:0]
}

func (c *keyCounts) clone() keyCounts {
	return keyCounts{slices.Clone(c.n), slices.Clone(c.place), slices.Clone(c.active), c.last}
}

// roomWaiters are the sub-queues that wait for room, by key.
type roomWaiters struct {
	of     [][]subRef
	active []cluster.Key // keys of waiting sub-queues
	fit    []cluster.Key // scratch
	refs   []subRef      // scratch
	subs   int           // of all keys
}

func (w *roomWaiters) add(key cluster.Key, at subRef) {
	for len(w.of) <= int(key) {
		w.of = append(w.of, nil)
	}
	if len(w.of[key]) == 0 {
		w.active = append(w.active, key)
	}
	w.of[key] = append(w.of[key], at)
	w.subs++
}

// fitting lists the keys that have room, by number.
func (w *roomWaiters) fitting(c *cluster.Cluster) []cluster.Key {
	w.fit = w.fit[:0]
	for _, key := range w.active {
		if c.Room(key) {
			w.fit = append(w.fit, key)
		}
	}
	slices.Sort(w.fit)
	return w.fit
}

// take removes and returns the sub-queues of a key. The result is valid until a sub-queue is added.
func (w *roomWaiters) take(key cluster.Key) []subRef {
	refs := w.of[key]
	w.of[key] = refs[:0]
	w.subs -= len(refs)
	w.active = slices.DeleteFunc(w.active, func(a cluster.Key) bool { return a == key })
	return refs
}

// takeIf removes the wanted sub-queues of the keys, and appends them to a list.
func (w *roomWaiters) takeIf(asked []cluster.Key, to []subRef, wanted func(subRef) bool) []subRef {
	for _, key := range asked {
		left, had := w.of[key][:0], len(w.of[key])
		for _, at := range w.of[key] {
			if wanted(at) {
				to = append(to, at)
			} else {
				left = append(left, at)
			}
		}
		w.subs -= had - len(left)
		if w.of[key] = left; len(left) == 0 {
			w.take(key)
		}
	}
	return to
}

// all removes and returns all sub-queues, by key. The result is valid until the next call.
func (w *roomWaiters) all() []subRef {
	slices.Sort(w.active)
	w.refs = w.refs[:0]
	for _, key := range w.active {
		w.refs = append(w.refs, w.of[key]...)
		w.of[key] = w.of[key][:0]
	}
	w.active, w.subs = w.active[:0], 0
	return w.refs
}

func (w *roomWaiters) clear() { *w = roomWaiters{} }

// clone copies the lists. It does not share empty lists, because their memory must not be written by the copy.
func (w *roomWaiters) clone() roomWaiters {
	c := roomWaiters{of: make([][]subRef, len(w.of)), active: slices.Clone(w.active), subs: w.subs}
	for _, key := range c.active {
		c.of[key] = slices.Clone(w.of[key])
	}
	return c
}
