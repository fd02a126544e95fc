package policy_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
)

// TestKeysFollowFromFormulas draws pools at random and checks for every policy that the key, which is computed in Go,
// is exactly the result of the formula's text for the printed terms.
func TestKeysFollowFromFormulas(t *testing.T) {
	start := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Float64Range(0, 1e9)
		clock := usage.NewClock(start, time.Duration(rapid.Int64Range(0, int64(30*24*time.Hour)).Draw(t, "half-life")))
		now := clock.At(start.Add(time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "age"))))
		p := &sched.Pool{
			Account: usage.Account{Settled: amount.Draw(t, "settled"), Running: rapid.Float64Range(0, 1e4).Draw(t, "running")},
			Weight:  rapid.Float64Range(1e-3, 1e6).Draw(t, "weight"),
			Flight:  amount.Draw(t, "flight"),
			First:   float64(rapid.Int64Range(1, 1<<52).Draw(t, "first")),
			Own:     [2]float64{amount.Draw(t, "joined"), amount.Draw(t, "base")},
			Waiting: rapid.Int64Range(0, 1e9).Draw(t, "waiting"),
			Tasks:   rapid.Int32Range(0, 1e6).Draw(t, "tasks"),
		}
		above := &sched.Pool{Account: usage.Account{Settled: 2 * p.Settled, Running: p.Running}}
		for _, name := range policy.Names() {
			pol := policy.New(policy.Options{})(name, share.Options{})
			var terms why.Terms
			switch x := pol.(type) {
			case sched.Keyed:
				terms = x.Terms(p, sched.Setting{Now: now, Seconds: 3600, Weights: p.Weight * 3, Capacity: 100, Above: above})
			case sched.Weigher:
				terms = x.Weigh(p)
			case sched.Ranker:
				term := func(name string) float64 { return math.Round(rapid.Float64Range(0, 1e7).Draw(t, name)*4096) / 4096 }
				r := sched.Ranked{
					Job: 7, Age: term("age"), Fairshare: term("fairshare"), Size: term("size"), Pool: term("pool"), QOS: term("qos"),
					Assoc: term("assoc"), TRES: term("tres"), Site: term("site"), Nice: term("nice"),
				}
				if terms = x.Rank(r); terms.Key != -r.Priority() {
					t.Errorf("%s: key %v of a job of priority %v", name, terms.Key, r.Priority())
				}
			default:
				t.Fatalf("%s is of a kind that this test does not know", name)
			}
			if !recomputed(terms) {
				t.Errorf("%s: key %v is not %s of %v", name, terms.Key, terms.Formula.Text, terms.Values)
			}
		}
	})
}

// recomputed reports whether the formula's text, applied to the values, gives the key.
func recomputed(t why.Terms) bool {
	return t.Formula.Eval(t.Values[:len(t.Formula.Terms)]) == t.Formula.Result(t.Key)
}
