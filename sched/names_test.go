package sched_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// TestNamesOfCopies: the scheduler does not see pools and settings that a copy makes, and a copy does not see those of
// the scheduler, although both share their tables of names until one of them changes.
func TestNamesOfCopies(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	cfg := sched.Config{Root: share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 2}}}, NewPolicy: policy.New(policy.Options{}), HalfLife: time.Hour}
	s, err := sched.New(cfg, now, 1)
	if err != nil {
		t.Fatal(err)
	}
	one, two := s.Fork(), s.Fork()
	x, y, z := one.Pool("x"), two.Pool("y"), s.Pool("z")
	if x != y || y != z {
		t.Fatalf("numbers %d, %d and %d", x, y, z)
	}
	for at, want := range map[*sched.Scheduler]string{one: "x", two: "y", s: "z"} {
		if got := at.Path(x); got != want {
			t.Errorf("the pool is called %q, want %q", got, want)
		}
		for _, other := range []string{"x", "y", "z"} {
			if _, there := at.Lookup(other); there != (other == want) {
				t.Errorf("in that of %s, %s is there: %v", want, other, there)
			}
		}
	}
	cfg.Root.Pools = []share.Pool{{Name: "a", Weight: 5}}
	if err := one.Configure(cfg, now); err != nil {
		t.Fatal(err)
	}
	a, _ := s.Lookup("a")
	if s.Read().BaseWeight(a) != 2 || two.Read().BaseWeight(a) != 2 || one.Read().BaseWeight(a) != 5 {
		t.Errorf("weights %g, %g and %g; want 2, 2 and 5", s.Read().BaseWeight(a), two.Read().BaseWeight(a), one.Read().BaseWeight(a))
	}
}
