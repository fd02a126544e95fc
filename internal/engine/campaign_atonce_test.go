//go:build campaign

package engine_test

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var (
	atOnceFor  = flag.Duration("at-once", time.Minute, "how long TestCampaignEverythingAtOnce goes on")
	atOnceSeed = flag.Uint64("seed", 0, "the first seed of TestCampaignEverythingAtOnce; 0: the time")
)

// TestCampaignEverythingAtOnce is TestEverythingAtOnce with one seed after another.
func TestCampaignEverythingAtOnce(t *testing.T) {
	seed := *atOnceSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	first := seed
	for end := time.Now().Add(*atOnceFor); time.Now().Before(end) && !t.Failed(); seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { everythingAtOnce(t, seed) })
	}
	fmt.Printf("figure: %d minutes with everything at once under the race detector\n", seed-first)
}
