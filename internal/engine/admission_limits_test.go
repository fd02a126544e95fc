package engine_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/why"
)

// quotaShares are the default shares with two licenses of matlab, and 5 starts a second
// under linkedin, to which all jobs of the kind crawl are subject.
func quotaShares() fairlead.Shares {
	s := fairlead.DefaultShares()
	s.Sched.Licenses = map[string]int64{"matlab": 2}
	s.Sched.Rates = map[string]sched.Rate{"linkedin": {Count: 5, Per: time.Second}}
	s.KindRates = map[string][]string{"crawl": {"linkedin"}}
	return s
}

// clockwork notes when tasks started, and how many ran at most.
type clockwork struct {
	mu      sync.Mutex
	at      []time.Time
	now     int
	atOnce  int
	forTime time.Duration
}

func (c *clockwork) Handle(context.Context, *fairlead.Lease) error {
	c.mu.Lock()
	c.at = append(c.at, time.Now())
	c.now++
	c.atOnce = max(c.atOnce, c.now)
	c.mu.Unlock()
	time.Sleep(c.forTime)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return nil
}

// with runs a loop over the store, with a worker for crawl and fit, while f does.
func with(t *testing.T, store fairlead.Store, shares fairlead.Shares, crawl, fit engine.Handler, f func(*engine.Loop)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	loop, err := newLoop(ctx, store, engine.LoopOptions{Shares: shares})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { loop.Run(ctx) })
	wg.Go(func() {
		loop.Work(ctx, engine.WorkOptions{Slots: 20, Handlers: map[string]engine.Handler{"crawl": crawl, "fit": fit}})
	})
	synctest.Wait()
	f(loop)
	cancel()
	wg.Wait()
}

// TestRateHoldsOverARestart runs jobs under a rate, and makes the loop anew in between.
// Others of the same pool start at once.
func TestRateHoldsOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New("cpu")
		crawl, fit := &clockwork{}, &clockwork{}
		from := time.Now()
		with(t, store, quotaShares(), crawl, fit, func(l *engine.Loop) {
			ids, err := l.Client().Submit(t.Context(), fairlead.Job{User: "ann", Kind: "crawl", Array: "0-99"}, fairlead.Job{User: "ann", Kind: "fit"})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if len(fit.at) != 1 || !fit.at[0].Equal(from) {
				t.Errorf("a job of the same pool without the rate started at %v, want at once", fit.at)
			}
			a, err := forecast.New(l).Why(t.Context(), ids[0], explain.WhyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if a.Reason.Code != why.GateRate || a.Verdict != why.Limited || !strings.Contains(a.Reason.Text, "rate linkedin 5/s, burst 5: the next start is in 200ms") {
				t.Errorf("why says %+v", a.Reason)
			}
			_, rates := l.Limits(t.Context())
			if r := rates[0]; r.Left != 0 || r.Waiting != 95 || r.Next == nil || r.Next.Sub(from) != 200*time.Millisecond || !slices.Equal(r.Kinds, []string{"crawl"}) {
				t.Errorf("the limits say %+v", r)
			}
			time.Sleep(1300 * time.Millisecond)
		})
		time.Sleep(300 * time.Millisecond)
		with(t, store, quotaShares(), crawl, fit, func(*engine.Loop) { time.Sleep(time.Minute) })
		if len(crawl.at) != 100 {
			t.Errorf("%d of 100 tasks started", len(crawl.at))
		}
		for i := range crawl.at {
			for k := i; k < len(crawl.at); k++ {
				if window := crawl.at[k].Sub(crawl.at[i]); k-i+1 > 5+int(window*5/time.Second) {
					t.Fatalf("%d starts within %v", k-i+1, window)
				}
			}
		}
		if took := crawl.at[99].Sub(from); took > 19200*time.Millisecond {
			t.Errorf("the last of 100 started after %v: the rate was not used up", took)
		}
	})
}

// TestLicensesAreHeld: never more tasks than licences, also after a restart while their tasks continue.
func TestLicensesAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fit := &clockwork{forTime: 10 * time.Second}
		job := fairlead.Job{User: "ann", Kind: "fit", Array: "0-5", Licenses: fairlead.Amounts{"matlab": 1}}
		with(t, memory.New("cpu"), quotaShares(), &clockwork{}, fit, func(l *engine.Loop) {
			ids, err := l.Client().Submit(t.Context(), job, fairlead.Job{User: "bob", Kind: "fit", Licenses: fairlead.Amounts{"matlab": 2}})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			jobs, err := l.Client().Jobs(t.Context(), fairlead.Query{IDs: ids})
			if err != nil {
				t.Fatal(err)
			}
			if r := explain.New(l).ShortReasons(t.Context(), jobs)[ids[1]]; r.Code != why.GateLicense || r.Text != "license matlab 2/2 used, it asks for 2" {
				t.Errorf("queue says %+v", r)
			}
			a, err := forecast.New(l).Why(t.Context(), ids[1], explain.WhyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if want := "license matlab 2/2 used, it asks for 2: ann has 2 (job 1)"; !strings.Contains(a.Text(), want) {
				t.Errorf("why says %q, want %q in it", a.Text(), want)
			}
			time.Sleep(time.Minute)
		})
		if fit.atOnce != 2 || len(fit.at) != 7 {
			t.Errorf("%d tasks ran, up to %d at once, want 7 and 2", len(fit.at), fit.atOnce)
		}
	})
}

// TestLicensesAndRatesAreChecked: unknown or too many licenses or rates are refused with the existing ones.
func TestLicensesAndRatesAreChecked(t *testing.T) {
	client := engine.NewClient(memory.New("cpu"), quotaShares())
	for _, c := range []struct {
		job  fairlead.Job
		want string
	}{
		{fairlead.Job{Licenses: fairlead.Amounts{"mathlab": 1}}, `there is no license "mathlab"; known licenses: matlab`},
		{fairlead.Job{Licenses: fairlead.Amounts{"matlab": 3}},
			"asks for 3 of matlab, but the cluster has only 2: it could never start"},
		{fairlead.Job{Licenses: fairlead.Amounts{"matlab": 1}, Gang: 3},
			"its 3 tasks ask for 3 of matlab at once, but the cluster has only 2: they could never start"},
		{fairlead.Job{Licenses: fairlead.Amounts{"matlab": -1}}, "must be from 1"},
		{fairlead.Job{Licenses: fairlead.Amounts{"a/b": 1}}, "not the name of a license"},
		{fairlead.Job{Rates: []string{"github"}}, `there is no rate "github"; known rates: linkedin`},
		{fairlead.Job{Rates: []string{"linkedin", "linkedin"}}, "named twice"},
	} {
		if _, err := client.Submit(t.Context(), c.job); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", cmp.Or(len(c.job.Rates), len(c.job.Licenses)), err, c.want)
		}
	}
	bare := engine.NewClient(memory.New("cpu"), fairlead.DefaultShares())
	if _, err := bare.Submit(t.Context(), fairlead.Job{Rates: []string{"x"}}); err == nil || !strings.Contains(err.Error(), "no rates are configured; an administrator adds them with a line such as rates: {crawl: 5/s}") {
		t.Errorf("without a configuration: %v", err)
	}
}
