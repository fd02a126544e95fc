package sched_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead/fairlead/share"
)

// TestDecayInsideASmallPool: the usage of the children of a small pool is a small part of the cluster, and still
// decides which child goes first.
func TestDecayInsideASmallPool(t *testing.T) {
	for _, decay := range []share.Decay{{}, {HalfLife: true}, {ScaleByShare: true, Days: 3}} {
		t.Run(fmt.Sprintf("%+v", decay), func(t *testing.T) {
			w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{
				{Name: "g", Weight: 1, Policy: "decay", Options: share.Options{Decay: decay}, Pools: []share.Pool{{Name: "big", Weight: 9}, {Name: "small", Weight: 1}}},
				{Name: "rest", Weight: 9},
			}}, 10, 1)
			for _, pool := range []string{"g/big", "g/small", "rest"} {
				w.submit(pool, 5000)
			}
			starts := map[string]int{}
			for range 20 * 24 {
				begun := w.step(0)
				for _, p := range w.paths(begun) {
					starts[p]++
				}
				w.tick(time.Hour)
				for _, st := range begun {
					w.Finish(st.Run, w.now, true)
				}
			}
			if got, all := starts["g/small"], starts["g/big"]+starts["g/small"]; got < all/30 || got > all/3 {
				t.Errorf("small had %d of %d starts in g, want about a tenth", got, all)
			}
		})
	}
}
