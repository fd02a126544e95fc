package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/internal/life"
)

// toll lets f grant those wants that their rates, and what they hold, admit.
func (s *Store) toll(wants []fairlead.Want, now time.Time, f func([]fairlead.Want, []fairlead.Grant)) []fairlead.Grant {
	out := make([]fairlead.Grant, len(wants))
	tolls := life.NewTolls(wants)
	if tolls == nil {
		f(wants, out)
		return out
	}
	for _, name := range tolls.Rates() {
		if r, known := s.rates[name]; known {
			tolls.Stands(r)
		}
	}
	for _, of := range tolls.Held() {
		tolls.Holds(of, s.held[of])
	}
	admitted, at := tolls.Admit(wants, out, now)
	granted := make([]fairlead.Grant, len(admitted))
	f(admitted, granted)
	for i, g := range granted {
		out[at[i]] = g
		for _, l := range life.Leases(g) {
			s.hold(l.Ref, admitted[i].Holds)
		}
	}
	for _, r := range tolls.Settle(wants, out) {
		s.rates[r.Name] = r
	}
	return out
}

// hold counts what an attempt holds, until it is dropped.
func (s *Store) hold(ref fairlead.Ref, holds []sched.Held) {
	if len(holds) == 0 {
		return
	}
	s.holds[ref] = holds
	for _, h := range holds {
		s.held[h.Of] += h.Amount
	}
}

func (s *Store) drop(ref fairlead.Ref) {
	for _, h := range s.holds[ref] {
		if s.held[h.Of] -= h.Amount; s.held[h.Of] == 0 {
			delete(s.held, h.Of)
		}
	}
	delete(s.holds, ref)
}

// Shared implements fairlead.Sharer: several loops of a process may use the store.
func (s *Store) Shared() bool { return true }

// Rates implements fairlead.RateKeeper.
func (s *Store) Rates(ctx context.Context) ([]sched.RateState, error) {
	now, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []sched.RateState
	for _, name := range slices.Sorted(maps.Keys(s.rates)) {
		r := s.rates[name]
		r.Resume(r.Limit, now)
		out = append(out, r)
	}
	return out, nil
}
