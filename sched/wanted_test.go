package sched_test

import (
	"testing"

	"github.com/fairlead/fairlead/share"
)

// TestWantedOfNewPool: when the first pool whose policy goes by what is wanted comes to be, what
// waits already counts, whether or not a job comes with it.
func TestWantedOfNewPool(t *testing.T) {
	for _, policy := range []string{"load", "deficit"} {
		w := newWorld(t, share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "b", Weight: 1, Policy: policy}}}, 1, 1)
		w.submit("a", 3)
		w.Pool("b/x")
		w.sound()
	}
}
