package sqlite

import (
	"math"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// TestHalfLifeChangeIsKept: a change of the half-life keeps the decayed usage so far, in memory and in the file; from
// then on usage decays by the new half-life. The same holds for an automatic rebase.
func TestHalfLifeChangeIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "jobs.db")
		s := openInternal(t, path)
		defer func() { s.Close() }()
		usage := func(when string, used, seen float64) queue.Account {
			t.Helper()
			u, err := s.Usage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			a := u.Pools["ann"]
			if math.Abs(a.Used-used) > 1e-6*used || math.Abs(a.Seen-seen) > 1e-6*seen {
				t.Errorf("%s: %+v, want used %v, seen %v", when, a, used, seen)
			}
			return a
		}
		set := func(h time.Duration) {
			t.Helper()
			if err := s.SetHalfLife(t.Context(), h); err != nil {
				t.Fatal(err)
			}
		}
		reopen := func() {
			t.Helper()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openInternal(t, path)
		}
		run := func() {
			t.Helper()
			l := take(t, s, add(t, s, queue.Job{}).ID)
			time.Sleep(10 * time.Second)
			if v, err := s.Finish(t.Context(), []queue.Result{{Ref: l.Ref, Outcome: queue.Outcome{State: queue.Succeeded}}}); err != nil || v[0].Err != nil {
				t.Fatal(v, err)
			}
		}
		const most = 1 / math.Ln2 // of a slot that was always busy, with a half-life of 1 s
		set(time.Second)
		run()
		used := most * (1 - math.Exp2(-10))
		time.Sleep(3 * time.Second)
		usage("after three half-lives", used/8, 1./8)
		reopen()
		usage("the same after a restart", used/8, 1./8)
		set(time.Hour)
		usage("after the change", used/8, 1./8)
		reopen()
		usage("after the change and a restart", used/8, 1./8)
		time.Sleep(time.Hour)
		usage("after the new half-life", used/16, 1./16)
		set(time.Second)
		time.Sleep(30 * time.Second)
		run() // 40 half-lives after the reference
		usage("after a rebase", used, 1)
		reopen()
		usage("after a rebase and a restart", used, 1)
		if ref := s.mem.clock.Reference(); time.Since(ref) > time.Second {
			t.Errorf("the amounts are as of %s", ref)
		}
	})
}
