package life

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Limits decides which wants of a call may start by the limits of their rates and licenses. It decides in order, before
// the store searches for tasks. The amounts admitted for one want are not available to another want, even if the store
// finds no task for the first. A returned lease still counts as a start, because the rate may have replaced its token
// long ago, and a returned token would then be an additional one.
type Limits struct {
	now   time.Time
	rates map[string]*rate
	held  map[string]int64 // held by all running tasks, including admitted ones
}

type rate struct {
	sched.RateState
	limit    sched.Rate
	admitted int64
	taken    bool
}

// NewLimits returns the limits of the licenses and rates that claims request; nil if they request none.
func NewLimits(wants []queue.Want) *Limits {
	var t *Limits
	for i := range wants {
		w := &wants[i]
		if len(w.Rates)+len(w.Holds) == 0 {
			continue
		}
		if t == nil {
			t = &Limits{rates: map[string]*rate{}, held: map[string]int64{}}
		}
		for _, r := range w.Rates {
			t.rates[r.Name] = &rate{RateState: sched.RateState{Name: r.Name}, limit: r.Limit}
		}
		for _, h := range w.Holds {
			t.held[h.Of] = 0
		}
	}
	return t
}

// Rates returns the names of the rates.
func (t *Limits) Rates() []string { return slices.Sorted(maps.Keys(t.rates)) }

// Held returns the names of the licenses and other limits that claims want to hold.
func (t *Limits) Held() []string { return slices.Sorted(maps.Keys(t.held)) }

// Stands sets the state of a rate as stored.
func (t *Limits) Stands(s sched.RateState) { t.rates[s.Name].RateState = s }

// Holds adds an amount that running tasks hold.
func (t *Limits) Holds(of string, amount int64) { t.held[of] += amount }

// Admit decides at an instant, after all calls of Stands and Holds, and records in the argument "out" why a want is
// refused. It returns the other wants, and their places.
func (t *Limits) Admit(wants []queue.Want, out []queue.Grant, now time.Time) (admitted []queue.Want, at []int) {
	t.now = now
	for _, r := range t.rates {
		r.Resume(r.limit, now)
	}
	for i, w := range wants {
		if out[i].Refused = t.admit(w); out[i].Refused == "" {
			admitted, at = append(admitted, w), append(at, i)
		}
	}
	return admitted, at
}

func (t *Limits) admit(w queue.Want) (refused string) {
	tasks := int64(max(1, len(w.Nodes)))
	for _, l := range w.Rates {
		if r := t.rates[l.Name]; r.Tokens(t.now)-r.admitted < r.Least(tasks) {
			return "rate " + l.Name
		}
	}
	for _, h := range w.Holds {
		if t.held[h.Of]+tasks*h.Amount > h.Max {
			return h.Of
		}
	}
	for _, l := range w.Rates {
		t.rates[l.Name].admitted += tasks
	}
	for _, h := range w.Holds {
		t.held[h.Of] += tasks * h.Amount
	}
	return ""
}

// Settle takes the tokens of leased tasks, and sets the state of each rate in the argument "out". It returns the rates
// that the store must save.
func (t *Limits) Settle(wants []queue.Want, out []queue.Grant) (changed []sched.RateState) {
	for i, w := range wants {
		tasks := int64(len(Leases(out[i])))
		for _, l := range w.Rates {
			if r := t.rates[l.Name]; tasks > 0 {
				r.Take(t.now, tasks)
				r.taken = true
			}
		}
	}
	for i, w := range wants {
		for _, l := range w.Rates {
			out[i].Rates = append(out[i].Rates, t.rates[l.Name].RateState)
		}
	}
	for _, name := range t.Rates() {
		if r := t.rates[name]; r.taken {
			changed = append(changed, r.RateState)
		}
	}
	return changed
}

// Leases returns the leases of a grant.
func Leases(g queue.Grant) []*queue.Lease {
	if g.Lease != nil {
		return []*queue.Lease{g.Lease}
	}
	return g.Gang
}
