package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/internal/life"
)

// admit calls f to grant the wants that the limits of their rates and of what they hold allow.
func (s *Store) admit(wants []queue.Want, now time.Time, f func([]queue.Want, []queue.Grant)) []queue.Grant {
	out := make([]queue.Grant, len(wants))
	limits := life.NewLimits(wants)
	if limits == nil {
		f(wants, out)
		return out
	}
	for _, name := range limits.Rates() {
		if r, known := s.limits.rates[name]; known {
			limits.Stands(r)
		}
	}
	for _, of := range limits.Held() {
		limits.Holds(of, s.limits.held[of])
	}
	admitted, at := limits.Admit(wants, out, now)
	granted := make([]queue.Grant, len(admitted))
	f(admitted, granted)
	for i, g := range granted {
		out[at[i]] = g
		for _, l := range life.Leases(g) {
			s.limits.hold(l.Ref, admitted[i].Holds)
		}
	}
	for _, r := range limits.Settle(wants, out) {
		s.limits.rates[r.Name] = r
	}
	return out
}

// Shared implements queue.Sharer: several engines of a process may use the store.
func (s *Store) Shared() bool { return true }

// Rates implements queue.RateKeeper.
func (s *Store) Rates(ctx context.Context) ([]sched.RateState, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []sched.RateState
	for _, name := range slices.Sorted(maps.Keys(s.limits.rates)) {
		r := s.limits.rates[name]
		r.Resume(r.Limit, now)
		out = append(out, r)
	}
	return out, nil
}
