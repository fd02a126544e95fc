package sched_test

import (
	"math"
	"testing"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/share"
)

// slotsBy holds the mean number of slots of each leaf.
type slotsBy map[string]float64

// capped is a tree of pools that run map and reduce tasks without end, and the slots that each leaf should have.
type capped struct {
	pools         []share.Pool
	maps, reduces slotsBy
}

// TestDeficitBelowMaximum: the pools below a pool at its maximum divide that maximum by their weights, whether the pool
// is their parent, an ancestor, or one of several on the way. They divide all other resources as before.
func TestDeficitBelowMaximum(t *testing.T) {
	for name, c := range map[string]capped{
		"above": {
			[]share.Pool{
				mapsOf("a", 1, 2, mapsOf("x", 1, 0), mapsOf("y", 3, 0)),
				mapsOf("b", 3, 0), mapsOf("c", 4, 0),
			},
			slotsBy{"a/x": 0.5, "a/y": 1.5, "b": 6, "c": 8}, slotsBy{"a/x": 0.25, "a/y": 0.75, "b": 3, "c": 4},
		},
		"above and own": {
			[]share.Pool{
				mapsOf("a", 2, 4, mapsOf("x", 1, 0), mapsOf("y", 6, 1), mapsOf("z", 1, 0)),
				mapsOf("b", 2, 0),
			},
			slotsBy{"a/x": 1.5, "a/y": 1, "a/z": 1.5, "b": 12}, slotsBy{"a/x": 0.5, "a/y": 3, "a/z": 0.5, "b": 4},
		},
		"above and sometimes own": {
			[]share.Pool{
				mapsOf("a", 2, 4, mapsOf("x", 1, 0), mapsOf("y", 3, 2), mapsOf("z", 4, 3)),
				mapsOf("b", 2, 0),
			},
			slotsBy{"a/x": 0.5, "a/y": 1.5, "a/z": 2, "b": 12}, slotsBy{"a/x": 0.5, "a/y": 1.5, "a/z": 2, "b": 4},
		},
		"higher up": {
			[]share.Pool{
				mapsOf("a", 4, 3,
					mapsOf("u", 1, 0, mapsOf("x", 1, 0), mapsOf("y", 1, 0)),
					mapsOf("v", 2, 0, mapsOf("x", 1, 0), mapsOf("y", 3, 0))),
				mapsOf("b", 1, 0), mapsOf("c", 3, 0),
			},
			slotsBy{"a/u/x": 0.5, "a/u/y": 0.5, "a/v/x": 0.5, "a/v/y": 1.5, "b": 3.25, "c": 9.75},
			slotsBy{"a/u/x": 2. / 3, "a/u/y": 2. / 3, "a/v/x": 2. / 3, "a/v/y": 2, "b": 1, "c": 3},
		},
		"several": {
			[]share.Pool{
				mapsOf("a", 4, 6,
					mapsOf("u", 3, 3, mapsOf("x", 1, 0), mapsOf("y", 2, 0)),
					mapsOf("v", 1, 0, mapsOf("x", 1, 0), mapsOf("y", 3, 0))),
				mapsOf("b", 1, 0), mapsOf("c", 3, 0),
			},
			slotsBy{"a/u/x": 1, "a/u/y": 2, "a/v/x": 0.75, "a/v/y": 2.25, "b": 2.5, "c": 7.5},
			slotsBy{"a/u/x": 1, "a/u/y": 2, "a/v/x": 0.25, "a/v/y": 0.75, "b": 1, "c": 3},
		},
	} {
		t.Run(name, c.check)
	}
}

// TestDeficitAboveMaxima: a pool wants no more than the maxima of its child pools allow, so that its siblings divide
// the rest by their weights, under every policy.
func TestDeficitAboveMaxima(t *testing.T) {
	mixed := mapsOf("a", 4, 0, mapsOf("x", 1, 1), mapsOf("y", 3, 2))
	mixed.Policy = "fair"
	for name, c := range map[string]capped{
		"right below": {
			[]share.Pool{mapsOf("a", 4, 0, mapsOf("x", 1, 1), mapsOf("y", 3, 2)), mapsOf("b", 1, 0), mapsOf("c", 3, 0)},
			slotsBy{"a/x": 1, "a/y": 2, "b": 3.25, "c": 9.75}, slotsBy{"a/x": 1, "a/y": 3, "b": 1, "c": 3},
		},
		"further down": {
			[]share.Pool{
				mapsOf("a", 4, 0, mapsOf("u", 1, 0, mapsOf("x", 1, 1), mapsOf("y", 1, 1)), mapsOf("v", 1, 2)),
				mapsOf("b", 1, 0), mapsOf("c", 3, 0),
			},
			slotsBy{"a/u/x": 1, "a/u/y": 1, "a/v": 2, "b": 3, "c": 9},
			slotsBy{"a/u/x": 1, "a/u/y": 1, "a/v": 2, "b": 1, "c": 3},
		},
		"above others": {
			[]share.Pool{
				mapsOf("a", 4, 0,
					mapsOf("u", 1, 3, mapsOf("x", 1, 0), mapsOf("y", 2, 0)),
					mapsOf("v", 1, 1, mapsOf("x", 1, 0), mapsOf("y", 1, 0))),
				mapsOf("b", 1, 0), mapsOf("c", 3, 0),
			},
			slotsBy{"a/u/x": 1, "a/u/y": 2, "a/v/x": 0.5, "a/v/y": 0.5, "b": 3, "c": 9},
			slotsBy{"a/u/x": 2. / 3, "a/u/y": 4. / 3, "a/v/x": 1, "a/v/y": 1, "b": 1, "c": 3},
		},
		"under another policy": {
			[]share.Pool{mixed, mapsOf("b", 1, 0), mapsOf("c", 3, 0)},
			slotsBy{"a/x": 1, "a/y": 2, "b": 3.25, "c": 9.75}, slotsBy{"b": 1, "c": 3},
		},
	} {
		t.Run(name, c.check)
	}
}

// check plays the tree on 16 map slots and 8 reduce slots.
func (c *capped) check(t *testing.T) {
	for seed := range uint64(3) {
		root := share.Pool{Policy: "deficit", Pools: c.pools}
		got := playKinds(t, root, map[string]float64{"map": 16, "reduce": 8}, seed)
		for kind, due := range map[string]slotsBy{"map": c.maps, "reduce": c.reduces} {
			for leaf, want := range due {
				if had := got[leaf+"/"+kind]; math.Abs(had-want) > 0.01*want+0.01 {
					t.Errorf("seed %d: %s has %.3f %s slots, want %.3f", seed, leaf, had, kind, want)
				}
			}
		}
	}
}

// mapsOf is a pool with a weight and, if it is above 0, a maximum of map slots.
func mapsOf(name string, weight float64, max int64, pools ...share.Pool) share.Pool {
	p := share.Pool{Name: name, Weight: weight, Pools: pools}
	if max > 0 {
		p.Max = cluster.Amounts{"map": max}
	}
	return p
}
