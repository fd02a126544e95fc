package share_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/share"
)

func TestTimes(t *testing.T) {
	const h = time.Hour
	root := share.Pool{Time: 2 * h, MaxTime: 48 * h, Pools: []share.Pool{
		{Name: "short", MaxTime: h, Pools: []share.Pool{{Name: "looser", MaxTime: 4 * h}, {Name: "quick", Time: h / 2}}},
		{Name: "long", Time: share.Never},
		{Name: "open", Time: 4 * h},
	}}
	for _, c := range []struct {
		path           string
		standard, most time.Duration
		from           string
	}{
		{"", 2 * h, 48 * h, ""},
		{"ann", 2 * h, 48 * h, ""},
		{"short", h, h, "short"},
		{"short/ann", h, h, "short"},
		{"short/looser", h, h, "short"},
		{"short/quick/ann", h / 2, h, "short"},
		{"long", 48 * h, 48 * h, ""},
		{"open/ann", 4 * h, 48 * h, ""},
	} {
		got := root.Times(c.path)
		if got.Default() != c.standard || got.Max != c.most || got.MaxOf != c.from {
			t.Errorf("%q: default %v, at most %v of %q; want %v, %v of %q", c.path, got.Default(), got.Max, got.MaxOf, c.standard, c.most, c.from)
		}
	}
	if got := (&share.Pool{}).Times("a/b"); got.Default() != 0 || got.Max != 0 {
		t.Errorf("without limits: %+v", got)
	}
}
