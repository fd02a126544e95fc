package sched_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// newQuotaWorld is a world with licenses and rates.
func newQuotaWorld(t testing.TB, root share.Pool, slots int64, licenses map[string]int64, rates map[string]sched.Rate) *world {
	t.Helper()
	s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Licenses: licenses, Rates: rates}, epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Join("n", cluster.Amounts{"cpu": slots}, epoch)
	return &world{Scheduler: s, t: t, now: epoch}
}

// ask submits a job that asks for licenses and rates.
func (w *world) ask(pool string, tasks int, r sched.Request) sched.Job {
	w.last++
	j := sched.Job{ID: w.last, Pool: w.Pool(pool), Key: w.KeyOf(r), Priority: normal, Tasks: tasks}
	w.Add(j, w.now)
	return j
}

// starts are the instants at which tasks of a rate started, and the number of starts in each pool.
type starts struct {
	at   []time.Time
	pool map[string]int
}

type quotaEnd struct {
	at  time.Time
	run sched.RunID
}

// runUntil steps at every instant at which something changes, until the end; each task runs for "length". It returns
// the tasks that still run then, for the next call.
func (w *world) runUntil(end time.Time, ends []quotaEnd, length time.Duration, started func(sched.Start)) []quotaEnd {
	for {
		for _, st := range w.step(0) {
			started(st)
			ends = append(ends, quotaEnd{w.now.Add(length), st.Run})
		}
		slices.SortStableFunc(ends, func(a, b quotaEnd) int { return a.at.Compare(b.at) })
		next := w.d.Next
		if len(ends) > 0 && (next.IsZero() || ends[0].at.Before(next)) {
			next = ends[0].at
		}
		if next.IsZero() || next.After(end) {
			return ends
		}
		w.now = next
		for len(ends) > 0 && !ends[0].at.After(w.now) {
			w.Finish(ends[0].run, w.now, true)
			ends = ends[1:]
		}
	}
}

// checkWindows fails if in some window there were more starts than the rate allows.
func checkWindows(t interface{ Fatalf(string, ...any) }, at []time.Time, limit sched.Rate, burst int64) {
	for i := range at {
		for k := i; k < len(at); k++ {
			window := at[k].Sub(at[i])
			// burst + Count*window/Per, in whole numbers and without rounding
			if most := burst*int64(limit.Per) + limit.Count*int64(window); int64(k-i+1)*int64(limit.Per) > most {
				t.Fatalf("%d starts within %v under %v with a burst of %d", k-i+1, window, limit, burst)
			}
		}
	}
}

// TestRateHoldsInEveryWindow submits at random under several rates, in several pools, and checks every pair of starts.
func TestRateHoldsInEveryWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rates := map[string]sched.Rate{
			"five":  {Count: 5, Per: time.Second},
			"three": {Count: rapid.Int64Range(1, 7).Draw(t, "count"), Per: time.Second, Burst: rapid.Int64Range(1, 9).Draw(t, "burst")},
		}
		root := share.Pool{Policy: rapid.SampledFrom([]string{"fair", "lottery", "fifo"}).Draw(t, "policy")}
		s, err := sched.New(sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Rates: rates}, epoch, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		s.Join("n", cluster.Amounts{"cpu": 4}, epoch)
		w := &world{Scheduler: s, now: epoch}
		jobs := map[int64]sched.Request{}
		at := map[string][]time.Time{}
		var running []sched.RunID
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0, 1:
				r := sched.Request{Rates: rapid.SampledFrom([][]string{nil, {"five"}, {"three"}, {"five", "three"}}).Draw(t, "rates")}
				j := w.ask(rapid.SampledFrom([]string{"a", "b", "c/x"}).Draw(t, "pool"), rapid.IntRange(1, 20).Draw(t, "tasks"), r)
				jobs[j.ID] = r
			case 2:
				w.tick(time.Duration(rapid.Int64Range(1, int64(time.Second)).Draw(t, "wait")))
			case 3:
				if next := w.d.Next; next.After(w.now) {
					w.now = next
				}
			case 4:
				for _, run := range running {
					w.Finish(run, w.now, true)
				}
				running = nil
			}
			for _, st := range w.step(0) {
				if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
					w.Abort(st.Run, w.now, true)
					continue
				}
				running = append(running, st.Run)
				for _, name := range jobs[st.Job].Rates {
					at[name] = append(at[name], w.now)
				}
			}
		}
		checkWindows(t, at["five"], rates["five"], 5)
		checkWindows(t, at["three"], rates["three"], rates["three"].Burst)
	})
}

// TestRateIsUsedUp has two pools whose tasks need a rate of 5/s, one pool that needs no rate, and room for all. The
// rate is used to the last start and divided by the weights, and the third pool never waits.
func TestRateIsUsedUp(t *testing.T) {
	root := share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 3}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1}}}
	w := newQuotaWorld(t, root, 20, nil, map[string]sched.Rate{"web": {Count: 5, Per: time.Second}})
	crawl := sched.Request{Rates: []string{"web"}}
	w.ask("a", 1000, crawl)
	w.ask("b", 1000, crawl)
	free := w.ask("c", 1_000_000, sched.Request{}).ID
	var s starts
	s.pool = map[string]int{}
	w.runUntil(epoch.Add(time.Minute), nil, 100*time.Millisecond, func(st sched.Start) {
		if st.Job != free {
			s.at = append(s.at, w.now)
			s.pool[w.Path(st.Pool)]++
		}
	})
	checkWindows(t, s.at, sched.Rate{Count: 5, Per: time.Second}, 5)
	if n := len(s.at); n != 5+5*60 {
		t.Errorf("%d starts in a minute at 5/s, want the burst and 300", n)
	}
	if a, b := s.pool["a"], s.pool["b"]; a < 2*b || b < 50 {
		t.Errorf("of the rate, a (weight 3) got %d starts and b (weight 1) %d", a, b)
	}
	if _, left := w.Cluster().Capacity(); left[0] != 0 {
		t.Errorf("%d slots idle although c has work", left[0])
	}
}

// TestNextIsTheRefill steps just before the instant that the decision names, and then at it.
func TestNextIsTheRefill(t *testing.T) {
	w := newQuotaWorld(t, share.Pool{Policy: "fair"}, 100, nil, map[string]sched.Rate{"web": {Count: 3, Per: time.Second, Burst: 2}})
	w.ask("a", 10, sched.Request{Rates: []string{"web"}})
	if got := len(w.step(0)); got != 2 {
		t.Fatalf("%d started at first, want the burst of 2", got)
	}
	var want time.Time
	for i := range 5 {
		// The k-th token is there after k thirds of a second, rounded up to nanoseconds.
		want = epoch.Add(time.Duration((int64(i+1)*int64(time.Second) + 2) / 3))
		if !w.d.Next.Equal(want) {
			t.Fatalf("next is %v after the start, want %v", w.d.Next.Sub(epoch), want.Sub(epoch))
		}
		w.now = want.Add(-1)
		if got := len(w.step(0)); got != 0 {
			t.Fatalf("%d started a nanosecond early", got)
		}
		w.now = want
		if got := len(w.step(0)); got != 1 {
			t.Fatalf("%d started at the refill, want 1", got)
		}
	}
}

// TestLicenseIsShared lets three pools contend for two licenses while a fourth fills the machine: no pool starves, and
// the weights divide the license.
func TestLicenseIsShared(t *testing.T) {
	for _, name := range []string{"fair", "fairtree", "drf", "lottery", "multifactor"} {
		root := share.Pool{Policy: name, Pools: []share.Pool{{Name: "a", Weight: 2}, {Name: "b", Weight: 1}, {Name: "c", Weight: 1}, {Name: "hog", Weight: 1}}}
		w := newQuotaWorld(t, root, 12, map[string]int64{"matlab": 2}, nil)
		one := sched.Request{Licenses: map[string]int64{"matlab": 1}}
		for _, p := range []string{"a", "b", "c"} {
			w.ask(p, 10_000, one)
		}
		hog := w.ask("hog", 1_000_000, sched.Request{}).ID
		got := map[string]int{}
		w.runUntil(epoch.Add(2000*time.Second), nil, 5*time.Second, func(st sched.Start) {
			if st.Job != hog {
				got[w.Path(st.Pool)]++
			}
			licenses, _ := w.Read().Quotas()
			if licenses[0].Used > 2 {
				t.Fatalf("%d of 2 licenses are used", licenses[0].Used)
			}
		})
		if n := got["a"] + got["b"] + got["c"]; n < 750 {
			t.Errorf("%s: %d tasks had a license in 2000 s, want nearly 800", name, n)
		}
		if got["a"] < 330 || got["b"] < 160 || got["c"] < 160 {
			t.Errorf("%s: weights 2, 1, 1 got %v", name, got)
		}
	}
}

// TestCreditIsNotCarriedOver: a pool that waited long for a license may not flood the machine with work that needs
// none.
func TestCreditIsNotCarriedOver(t *testing.T) {
	root := share.Pool{Policy: "fair", Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}}
	w := newQuotaWorld(t, root, 10, map[string]int64{"matlab": 1}, nil)
	w.ask("a", 100, sched.Request{Licenses: map[string]int64{"matlab": 1}})
	w.ask("b", 1_000_000, sched.Request{})
	ends := w.runUntil(epoch.Add(99*time.Second+time.Millisecond), nil, time.Second, func(sched.Start) {})
	w.ask("a", 1_000_000, sched.Request{})
	of := map[string]int{}
	from := w.now
	w.runUntil(from.Add(20*time.Second), ends, time.Second, func(st sched.Start) { of[w.Path(st.Pool)]++ })
	if of["b"] < 80 {
		t.Errorf("in 20 s after a brought other work, a started %d and b %d tasks", of["a"], of["b"])
	}
}

// TestQuotasOfAdopted: tasks that run when the scheduler is made hold their licenses.
func TestQuotasOfAdopted(t *testing.T) {
	w := newQuotaWorld(t, share.Pool{Policy: "fair"}, 10, map[string]int64{"matlab": 2}, nil)
	both := sched.Request{Licenses: map[string]int64{"matlab": 2}}
	run := w.Adopt(sched.Job{ID: 90, Pool: w.Pool("a"), Key: w.KeyOf(both), Tasks: 1}, 0, epoch.Add(-time.Hour), epoch)
	w.ask("b", 1, sched.Request{Licenses: map[string]int64{"matlab": 1}})
	if got := len(w.step(0)); got != 0 {
		t.Fatal("a license was given away that a running task holds")
	}
	w.Finish(run, epoch, true)
	if got := len(w.step(0)); got != 1 {
		t.Fatal("the licenses did not come back")
	}
}

// TestRateGoesOn: a new scheduler continues a rate where it was, also under another limit and by another clock. A clock
// that was set back does not stop the rate.
func TestRateGoesOn(t *testing.T) {
	limit := sched.Rate{Count: 1, Per: time.Minute, Burst: 3}
	for _, c := range []struct {
		name  string
		limit sched.Rate
		later time.Duration
		want  int
	}{
		{"at once", limit, 0, 1},
		{"after a minute", limit, time.Minute, 2},
		{"after an hour", limit, time.Hour, 3},
		{"a lower burst", sched.Rate{Count: 1, Per: time.Minute, Burst: 1}, time.Minute, 1},
		{"a higher burst", sched.Rate{Count: 1, Per: time.Minute, Burst: 9}, 0, 1},
		{"the clock set back", limit, -time.Hour, 1},
	} {
		kept := sched.RateState{Name: "web"}
		kept.Resume(limit, epoch)
		if n := kept.Tokens(epoch); n != 3 {
			t.Fatalf("a rate of which nothing is known has %d tokens, want 3", n)
		}
		kept.Take(epoch, 2)
		kept.Resume(c.limit, epoch.Add(c.later))
		here := epoch.Add(1000 * time.Hour)
		s, err := sched.New(sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), Rates: map[string]sched.Rate{"web": c.limit}}, here, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.SetRate(kept, here)
		s.Join("n", cluster.Amounts{"cpu": 10}, here)
		v := &world{Scheduler: s, now: here}
		v.ask("a", 10, sched.Request{Rates: []string{"web"}})
		if got := len(v.step(0)); got != c.want {
			t.Errorf("%s: %d started, want %d", c.name, got, c.want)
		}
	}
}

// TestRateIsSet: tokens that other servers took delay the waiting tasks, and the tokens that they left start tasks.
func TestRateIsSet(t *testing.T) {
	limit := sched.Rate{Count: 1, Per: time.Minute, Burst: 2}
	w := newQuotaWorld(t, share.Pool{Policy: "fair"}, 10, nil, map[string]sched.Rate{"web": limit})
	w.ask("a", 9, sched.Request{Rates: []string{"web"}})
	state := sched.RateState{Name: "web", Bucket: sched.Bucket{Limit: limit, Full: w.now, Taken: 2}, At: w.now}
	w.SetRate(state, w.now)
	if got := len(w.step(0)); got != 0 {
		t.Errorf("%d started under a rate that others have used up", got)
	}
	state.Taken = 1
	w.SetRate(state, w.now)
	started := w.step(0)
	if len(started) != 1 {
		t.Fatalf("%d started with one token", len(started))
	}
	if got := w.Read().RatesOf(started[0].Run); len(got) != 1 || got[0] != (sched.RateLimit{Name: "web", Limit: limit}) {
		t.Errorf("its rates are %+v", got)
	}
}

// TestHeldBy: a task holds its licenses and a part of the maxima of the pools above it.
func TestHeldBy(t *testing.T) {
	root := share.Pool{Policy: "fair", Pools: []share.Pool{
		{Name: "a", Weight: 1, Policy: "fair", Max: map[string]int64{"cpu": 7}, Pools: []share.Pool{{Name: "b", Weight: 1, MaxRunning: 3}}},
	}}
	w := newQuotaWorld(t, root, 10, map[string]int64{"matlab": 4}, nil)
	w.ask("a/b", 1, sched.Request{Licenses: map[string]int64{"matlab": 2}})
	got := fmt.Sprint(w.Read().HeldBy(w.step(0)[0].Run))
	if want := "[{license matlab 2 4 2} {max_running of a/b 1 3 0} {max cpu of a 1 7 0}]"; got != want {
		t.Errorf("it holds %s, want %s", got, want)
	}
}

// TestLowerLimits: while running tasks hold more than a lowered limit, nothing starts.
func TestLowerLimits(t *testing.T) {
	w := newQuotaWorld(t, share.Pool{Policy: "fair"}, 10, map[string]int64{"matlab": 3}, map[string]sched.Rate{"web": {Count: 5, Per: time.Second}})
	w.ask("a", 5, sched.Request{Licenses: map[string]int64{"matlab": 1}})
	running := w.step(0)
	cfg := w.Read().Config()
	cfg.Licenses, cfg.Rates = map[string]int64{"matlab": 1}, nil
	if err := w.Configure(cfg, w.now); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 0, 1} {
		w.Finish(running[i].Run, w.now, true)
		if got := len(w.step(0)); got != want {
			t.Errorf("after %d of 3 ended, %d started, want %d", i+1, got, want)
		}
	}
	w.ask("a", 9, sched.Request{Rates: []string{"web"}})
	if got := len(w.step(0)); got != 9 {
		t.Errorf("%d started under a rate that is not configured any more, want all 9", got)
	}
}
