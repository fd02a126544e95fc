package linear

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
)

// Run records histories of clients that contend for leases of a store, or of several on the
// same jobs, and checks that they are linearizable: in virtual time, so that no delay of the
// machine matters. Then it does so with clients that pass over the fence of the store, and
// checks that this is noticed.
func Run(t *testing.T, open func(testing.TB) []fairlead.Store, clients, histories int) {
	t.Helper()
	for seed := range histories {
		calls := record(t, open, clients, uint64(seed), false)
		if r := Check(calls, time.Minute, Pictures(t)); len(r.Bad)+r.Undecided > 0 {
			t.Fatalf("seed %d: not linearizable: %v; undecided: %d", seed, r.Bad, r.Undecided)
		}
	}
	if r := Check(record(t, open, clients, 0, true), time.Minute, ""); len(r.Bad) == 0 {
		t.Error("a store without a fence was not noticed")
	}
}

// Pictures is where pictures of failures go: a directory that is kept.
func Pictures(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "linear-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) }) // if it is empty
	return dir
}

func record(t *testing.T, open func(testing.TB) []fairlead.Store, clients int, seed uint64, unfenced bool) (calls []*Call) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		stores := open(t)
		var all []fairlead.Store
		for _, s := range stores {
			defer s.Close()
			if unfenced {
				s = Unfenced{s}
			}
			all = append(all, s)
		}
		const jobs = 24
		var err error
		calls, err = Record(t.Context(), all, Options{Clients: clients, Jobs: jobs, TTL: 40 * time.Millisecond, Length: 600 * time.Millisecond, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if leases := Leases(calls); leases < 2*jobs {
			t.Errorf("seed %d: void: %d leases of %d jobs", seed, leases, jobs)
		}
	})
	return calls
}

// Leases counts the leases that were granted.
func Leases(calls []*Call) (n int) {
	for _, c := range calls {
		if c.Verb == Lease && c.Attempt > 0 {
			n++
		}
	}
	return n
}
