package usage_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*(1+math.Abs(a)+math.Abs(b)) }

func after(seconds float64) time.Time {
	return ref.Add(time.Duration(math.Round(seconds * 1e9)))
}

// TestFairnessExample plays the example in the comment of Fairness.
func TestFairnessExample(t *testing.T) {
	f := usage.NewFairness(ref, usage.Span{Part: 5 * time.Second, Parts: 2})
	steps := []struct {
		until   float64
		a, b    usage.Rate
		lagA    float64
		lagB    float64
		largest float64
		window  float64 // lag of b in the last 5 to 10 s
	}{
		{5, usage.Rate{Ideal: 4, Received: 4}, usage.Rate{}, 0, 0, 0, 0},
		{10, usage.Rate{Ideal: 2, Received: 4}, usage.Rate{Ideal: 2}, -10, 10, 10, 10},
		{20, usage.Rate{Ideal: 2}, usage.Rate{Ideal: 2, Received: 4}, 10, -10, 10, -10},
		{21, usage.Rate{}, usage.Rate{Ideal: 1, Received: 1}, 10, -10, 10, -10},
	}
	at := 0.0
	for _, s := range steps {
		f.Set(after(at), []usage.Rate{s.a, s.b}, 0)
		at = s.until
		f.Advance(after(at))
		a, b := f.Total(0), f.Total(1)
		if !near(a.Lag(), s.lagA) || !near(b.Lag(), s.lagB) || !near(b.Largest, s.largest) || !near(f.Window(0, 1).Lag(), s.window) {
			t.Errorf("at %v s: a %+v, b %+v, window of b %+v", at, a, b, f.Window(0, 1))
		}
	}
	if got := f.Covered(0); got != 6*time.Second {
		t.Errorf("the window covers %v", got)
	}
}

// history is the slow, obvious version: it keeps every stretch between two events, and adds them all up for every
// question.
type history []stretch

type stretch struct {
	from, to float64
	rates    []usage.Rate
	idle     float64
}

func (h history) sum(pool int, from, to float64) (s usage.Sums) {
	for _, x := range h {
		if d := math.Min(to, x.to) - math.Max(from, x.from); d > 0 {
			r := usage.Rate{Ideal: x.idle}
			if pool >= 0 {
				r = x.rates[pool]
			}
			s.Ideal += r.Ideal * d
			s.Received += r.Received * d
		}
	}
	return s
}

// TestFairnessAgainstHistory: totals, windows and idle time equal those of the slow version, and the lags add up to the
// demand that was not served.
func TestFairnessAgainstHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part, parts := rapid.IntRange(1, 9).Draw(t, "part"), rapid.IntRange(1, 5).Draw(t, "parts")
		span := time.Duration(part) * time.Second
		f := usage.NewFairness(ref, usage.Span{Part: span, Parts: parts}, usage.Span{Part: 7 * span, Parts: 3})
		var past history
		now, tenths, pools := 0.0, 0, 0
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			pools = max(pools, rapid.IntRange(1, 5).Draw(t, "pools"))
			capacity := float64(rapid.IntRange(0, 20).Draw(t, "capacity"))
			rates, idle := drawRates(t, pools, capacity)
			f.Set(after(now), rates, idle)
			tenths += rapid.IntRange(0, 300).Draw(t, "tenths")
			past = append(past, stretch{now, float64(tenths) / 10, rates, idle})
			now = float64(tenths) / 10
		}
		for i := range past {
			past[i].rates = append(past[i].rates, make([]usage.Rate, pools-len(past[i].rates))...)
		}
		f.Advance(after(now))
		for k, length := range []float64{float64(part), float64(7 * part)} {
			n := []int{parts, 3}[k]
			from := math.Max(0, math.Floor(now/length+1e-9)*length-float64(n-1)*length)
			if got := f.Covered(k).Seconds(); !near(got, now-from) {
				t.Fatalf("window %d covers %v s, want %v", k, got, now-from)
			}
			if got, want := f.Idle(k), past.sum(-1, from, now).Ideal; !near(got, want) {
				t.Fatalf("window %d idle %v, want %v", k, got, want)
			}
			for i := range pools {
				got, want := f.Window(k, i), past.sum(i, from, now)
				if !near(got.Ideal, want.Ideal) || !near(got.Received, want.Received) {
					t.Fatalf("window %d of pool %d is %+v, want %+v", k, i, got, want)
				}
			}
		}
		lags := 0.0
		for i := range pools {
			got, want := f.Total(i), past.sum(i, 0, now)
			if !near(got.Ideal, want.Ideal) || !near(got.Received, want.Received) || got.Largest < math.Abs(got.Lag())-1e-6 {
				t.Fatalf("total of pool %d is %+v, want %+v", i, got, want)
			}
			lags += got.Lag()
		}
		if !near(lags, f.IdleTotal()) {
			t.Fatalf("the lags add up to %v, and %v was idle", lags, f.IdleTotal())
		}
	})
}

// drawRates divides a capacity ideally, and then gives the capacity to others: whoever comes first takes as much as it
// wants.
func drawRates(t *rapid.T, pools int, capacity float64) (rates []usage.Rate, idle float64) {
	claims := make([]share.Claim, pools)
	for i := range claims {
		claims[i] = share.Claim{
			Weight: float64(rapid.IntRange(1, 5).Draw(t, "weight")), Max: math.Inf(1),
			Min: float64(rapid.IntRange(0, 3).Draw(t, "min")), Demand: float64(rapid.IntRange(0, 9).Draw(t, "demand")),
		}
	}
	left, wanted := capacity, 0.0
	for i, part := range share.Divide(capacity, claims) {
		has := math.Min(left, math.Floor(claims[i].Demand*rapid.Float64Range(0, 1).Draw(t, "has")))
		left -= has
		wanted += claims[i].Demand
		rates = append(rates, usage.Rate{Ideal: part, Received: has})
	}
	ideal, had := 0.0, capacity-left
	for _, r := range rates {
		ideal += r.Ideal
	}
	if !near(ideal, math.Min(capacity, wanted)) {
		t.Fatalf("the ideal gives %v of %v, and %v is wanted", ideal, capacity, wanted)
	}
	return rates, math.Min(capacity, wanted) - had
}
