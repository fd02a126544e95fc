package usage_test

import (
	"math"
	"testing"
	"time"

	"github.com/fairlead/fairlead/usage"
)

var ref = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

func finite(xs ...float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// TestAtStaysFinite: the program divides by growth and multiplies with it, so growth is neither 0 nor infinite, however
// far an instant is from the reference.
func TestAtStaysFinite(t *testing.T) {
	for _, half := range []time.Duration{1, time.Second, time.Hour} {
		c := usage.NewClock(ref, half)
		for _, d := range []time.Duration{math.MinInt64, -time.Hour, 0, 18 * time.Minute, 18 * time.Hour, math.MaxInt64} {
			now := c.At(ref.Add(d))
			if !finite(now.Tau*1e9, now.Growth*1e9, 1e9/now.Growth) || now.Growth == 0 {
				t.Errorf("half-life %s after %s: %+v", half, d, now)
			}
		}
	}
}

// TestRebaseOverAnyGap follows one task that ended and one that runs, over short gaps and over gaps in which the old
// clock's growth overflows.
func TestRebaseOverAnyGap(t *testing.T) {
	const half = time.Minute
	most := half.Seconds() / math.Ln2 // service of a slot that was always busy
	for _, gap := range []time.Duration{0, time.Second, half, 18 * time.Minute, 18 * time.Hour, 300 * 24 * time.Hour, math.MaxInt64} {
		c := usage.NewClock(ref, half)
		var a usage.Account
		a.Start(2, 2, c.At(ref))
		a.Start(1, 1, c.At(ref))
		ended := c.At(ref.Add(half))
		a.Finish(1, 1, c.At(ref), ended)
		a.Learn(1, 60, ended)
		start := c.At(ref)
		settled := a.Settled
		at := ref.Add(half).Add(min(gap, math.MaxInt64-half))
		next, amount, instant := c.Rebase(at, half)
		a.Rebase(amount, instant)
		now := next.At(at)
		age := at.Sub(ref).Seconds() / half.Seconds()
		wantSettled := settled * math.Exp2(-age)
		wantRunning := 2 * most * (1 - math.Exp2(-age))
		got := a.Service(now)
		if !finite(a.Settled, a.Started, a.Seen, instant(start).Tau, got) || math.Abs(got-wantSettled-wantRunning) > 1e-9*got {
			t.Errorf("after %s: %+v, service %v, want %v", gap, a, got, wantSettled+wantRunning)
		}
		a.Finish(2, 2, instant(start), now)
		a.Learn(2, 5, now)
		if a.Running != 0 || a.Started != 0 || math.Abs(a.Settled-got) > 1e-9*got || !finite(a.Mean) {
			t.Errorf("after %s and its end: %+v", gap, a)
		}
	}
}

// TestReferenceNeverGoesBack: if a machine's clock is set back, nothing grows.
func TestReferenceNeverGoesBack(t *testing.T) {
	next, amount, _ := usage.NewClock(ref, time.Second).Rebase(ref.Add(-time.Hour), time.Minute)
	if !next.Reference().Equal(ref) || amount(3) != 3 {
		t.Errorf("reference %s, 3 became %v", next.Reference(), amount(3))
	}
}

// TestHalfLifeIsKept: many rebases with a clock's own half-life do not shorten it.
func TestHalfLifeIsKept(t *testing.T) {
	for half := time.Duration(1); half < 1000; half++ {
		if got := usage.NewClock(ref, half).HalfLife(); got != half {
			t.Errorf("%s became %s", half, got)
		}
	}
}
