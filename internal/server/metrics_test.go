package server

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/internal/views"
)

// TestMeasuredPools: if there are too many pools, only the root, the configured pools and the pools with the largest
// demand have metrics.
func TestMeasuredPools(t *testing.T) {
	pools := []views.PoolView{{Depth: 0}}
	for i := range 1000 {
		pools = append(pools, views.PoolView{Path: fmt.Sprint("u", i), Depth: 1, Want: float64(i % 700), Configured: i%500 == 1})
	}
	got := measured(pools, 5)
	var names []string
	for _, p := range got {
		names = append(names, p.Path)
	}
	if want := "[ u1 u501 u699 u698]"; fmt.Sprint(names) != want || !got[0].inner || got[1].inner {
		t.Errorf("%v, want %v", names, want)
	}
	if all := measured(pools, 2000); len(all) != len(pools) || all[7].Path != "u6" {
		t.Errorf("%d of %d", len(all), len(pools))
	}
}
