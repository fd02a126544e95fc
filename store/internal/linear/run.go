package linear

import (
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Run records histories of clients that contend for leases of one or several stores on the same jobs, and checks that
// they are linearizable. It uses virtual time, so that no delay of the machine matters; half of the histories lose
// answers. Then it does the same with clients that bypass the fence, and checks that this is detected.
func Run(t *testing.T, open func(testing.TB) []queue.Store, clients, histories int) {
	t.Helper()
	for seed := range histories {
		for _, loses := range []bool{false, true} {
			v := virtual{open: open, clients: clients, seed: uint64(seed), loses: loses}
			if r := Check(v.record(t), time.Minute, Kept(t)); r.String() != "" {
				t.Fatalf("seed %d, answers are lost: %v: %v", seed, loses, r)
			}
		}
	}
	v := virtual{open: open, clients: clients, flaw: flaws["without a fence"]}
	if r := Check(v.record(t), time.Minute, ""); len(r.Bad) == 0 {
		t.Error("a store without a fence was not noticed")
	}
}

// RunFlawed checks that each of several flaws is detected, even if answers are lost.
func RunFlawed(t *testing.T, open func(testing.TB) []queue.Store, clients int) {
	for name, flaw := range flaws {
		for _, loses := range []bool{false, true} {
			v := virtual{open: open, clients: clients, flaw: flaw, loses: loses}
			if r := Check(v.record(t), time.Minute, ""); len(r.Bad) == 0 {
				t.Errorf("a store %s was not noticed; answers are lost: %v", name, loses)
			}
		}
	}
}

// Kept returns a new directory for the calls of failures, and pictures of them. It stays if it is not empty.
func Kept(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "linear-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) }) // if it is empty
	return dir
}

// virtual is a history in virtual time.
type virtual struct {
	open    func(testing.TB) []queue.Store
	clients int
	seed    uint64
	loses   bool // answers
	flaw    func(queue.Store) queue.Store
}

func (v *virtual) record(t *testing.T) (calls []*Call) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		const jobs, ttl = 24, 250 * time.Millisecond
		o := Options{Clients: v.clients, Jobs: jobs, TTL: ttl, Length: 15 * ttl, Seed: v.seed, Faults: v.loses}
		var all []queue.Store
		for i, s := range v.open(t) {
			if v.flaw != nil {
				s = v.flaw(s)
			}
			if v.loses {
				l := &lossy{Store: s, longest: 2 * ttl, rng: rand.New(rand.NewPCG(v.seed, uint64(i)))}
				before := o.Settle
				o.Settle = func() {
					if before != nil {
						before()
					}
					l.late.Wait()
				}
				s = l
			}
			defer s.Close()
			all = append(all, s)
		}
		var err error
		if calls, err = Record(t.Context(), all, o); err != nil {
			t.Fatal(err)
		}
		if leases := Leases(calls); leases < 2*jobs {
			t.Errorf("seed %d: void: %d leases of %d jobs", v.seed, leases, jobs)
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
