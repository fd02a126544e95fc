package share

import "testing"

func TestInside(t *testing.T) {
	for _, c := range []struct {
		path, pool string
		want       bool
	}{
		{"physics", "physics", true}, {"physics/env/julie", "physics", true}, {"physics/env/julie", "physics/env", true},
		{"physics2", "physics", false}, {"physics", "physics/env", false}, {"biology", "physics", false},
	} {
		if got := Inside(c.path, c.pool); got != c.want {
			t.Errorf("%s inside %s: %v, want %v", c.path, c.pool, got, c.want)
		}
	}
}
