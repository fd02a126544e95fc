package explain_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// TestWhyUnderLimits asks why about every job of a mixed load, with wide jobs, a nearly used-up maximum and a pool
// below its minimum. Each answer has a true reason, and can be recomputed.
func TestWhyUnderLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := share.Pool{Policy: "fair", Pools: []share.Pool{
			{Name: "low", Weight: 1, Min: map[string]int64{"cpu": 1}},
			{Name: "big", Weight: 99}, {Name: "mid", Weight: 50},
			{Name: "capped", Weight: 10, Max: map[string]int64{"cpu": 2}},
		}}
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root = root
		o.Shares.Sched.HalfLife = 20 * time.Second
		loop, stop := start(t, o, 6, enginetest.Endless)
		defer stop()
		var ids []int64
		for i := range 60 {
			j := fairlead.Job{User: "ann", Pool: root.Pools[i%4].Name}
			if i%5 == 0 {
				j.Request = fairlead.Amounts{"cpu": int64(1 + i%3)}
			}
			ids = append(ids, enginetest.Submit(t, loop, j)...)
			time.Sleep(time.Duration(i%4) * time.Second)
		}
		ids = append(ids, enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "low"})...)
		time.Sleep(3 * time.Minute) // many half-lives
		limited := 0
		for _, id := range ids {
			a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{Evidence: true})
			if err != nil {
				t.Fatal(err)
			}
			if checks := replay.Verify(a, policy.Rule); !why.Verified(checks) {
				t.Errorf("job %d does not verify: %+v", id, checks)
			}
			if a.Subject.State == "waiting" && (a.Reason.Text == "" || a.Reason.Code == why.StateStarting) {
				t.Errorf("job %d waits because of %+v", id, a.Reason)
			}
			if a.Reason.Code == why.GateMax {
				limited++
			}
		}
		if limited == 0 {
			t.Error("no job was held back by the maximum")
		}
	})
}

// TestWhyBelowClassesThatStandLevel: when all classes of the policy load have the resources to which they are entitled,
// a job does not wait for the class of the largest load, but for jobs in its own class.
func TestWhyBelowClassesThatStandLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.Root = share.Pool{Policy: "load", Pools: []share.Pool{
			{Name: "prod", Weight: 70},
			{Name: "lab", Weight: 30, Policy: "fairtree",
				Pools: []share.Pool{{Name: "ann", Weight: 1}, {Name: "bob", Weight: 3}}},
			{Name: "none"},
		}}
		loop, stop := start(t, o, 10, enginetest.Endless)
		defer stop()
		var jobs []fairlead.Job
		for range 20 {
			jobs = append(jobs, fairlead.Job{User: "ann", Pool: "prod"}, fairlead.Job{User: "ann", Pool: "lab/ann"},
				fairlead.Job{User: "bob", Pool: "lab/bob"})
		}
		enginetest.Submit(t, loop, jobs...) // all at once, so that the starts do not depend on when the loop wakes
		time.Sleep(time.Minute)
		for pool, want := range map[string]string{
			"prod": "of its own pool prod", "lab/bob": "bob", "lab/ann": "in lab: it has used less of its share (",
			"none": "prod goes before none: " +
				"none is entitled to nothing, and gets only what no other pool can use",
		} {
			last := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: pool})[0]
			a, err := forecast.New(loop).Why(t.Context(), last, explain.WhyOptions{Evidence: true})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(a.Reason.Text, want) && !strings.Contains(a.Text(), "Also            "+want) ||
				pool != "none" && strings.Contains(a.Reason.Text, "root") ||
				!why.Verified(replay.Verify(a, policy.Rule)) {
				t.Errorf("%s: %s\n%s", pool, a.Reason.Text, a.Text())
			}
		}
	})
}

// TestWhyAdvisesTheNextPriority: a job behind others of its pool is advised to take the next higher priority; a job
// with the highest priority gets no such advice.
func TestWhyAdvisesTheNextPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, stop := start(t, engine.LoopOptions{Shares: fairlead.DefaultShares()}, 1, enginetest.Endless)
		defer stop()
		for _, c := range []struct{ has, next string }{{"very_high", ""}, {"high", "very_high"}, {"normal", "high"},
			{"very_low", "low"}} {
			job := fairlead.Job{User: "ann", Pool: "ann", Priority: c.has}
			last := enginetest.Submit(t, loop, job, job, job)[2]
			time.Sleep(time.Minute)
			a, err := forecast.New(loop).Why(t.Context(), last, explain.WhyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if c.next != "" {
				want = fmt.Sprintf("fairlead alter %d --priority %s", last, c.next)
			}
			if got := strings.TrimPrefix(a.Reason.Next, "raise its priority: "); got != want {
				t.Errorf("%s: %s %q, want %q", c.has, a.Reason.Code, got, want)
			}
		}
	})
}

// TestKeysAreAsOfNow: the keys in the text equal those in the table, however much has decayed.
func TestKeysAreAsOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
		o.Shares.Sched.HalfLife = 20 * time.Second
		loop, stop := start(t, o, 1,
			func(context.Context, *fairlead.Lease) error { time.Sleep(7 * time.Second); return nil })
		defer stop()
		for range 40 {
			enginetest.Submit(t, loop, fairlead.Job{User: "ann"}, fairlead.Job{User: "bob"})
		}
		time.Sleep(200 * time.Second)
		for _, id := range []int64{79, 80} {
			a, err := forecast.New(loop).Why(t.Context(), id, explain.WhyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if a.Reason.Code != why.ShareBehind {
				continue
			}
			first, you := a.Levels[0].Children[0], a.Levels[0].Children[1]
			x, y := why.ShortPair(a.Levels[0].KeyNow(first, a.Units.Growth), a.Levels[0].KeyNow(you, a.Units.Growth))
			want := fmt.Sprintf("%s goes before %s: it has the smaller key %s, and %s %s", first.Name, you.Name, x,
				you.Name, y)
			if first.Used < you.Used {
				want = fmt.Sprintf("%s goes before %s: it has used less of its share (%.1f%% of 50.0%%) than %s (%.1f%% of 50.0%%)",
					first.Name, you.Name, 100*first.Used, you.Name, 100*you.Used)
			}
			if a.Units.Growth < 500 || a.Reason.Text != want {
				t.Errorf("growth %v: %q, want %q", a.Units.Growth, a.Reason.Text, want)
			}
			return
		}
		t.Error("neither job is behind the other pool")
	})
}

// TestNewJobsRipen: new jobs lose their higher weight while they wait, and why shows that as one more comparison.
func TestNewJobsRipen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fairlead.DefaultShares()
		s.Sched.PriorityWeights = true
		s.Sched.NewJobs = sched.NewJobs{Factor: 2, For: 10 * time.Minute}
		loop, stop := start(t, engine.LoopOptions{Shares: s}, 1, enginetest.Lasting)
		defer stop()
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Payload: []byte("5h")},
			fairlead.Job{User: "ann", Payload: []byte("1h")})
		time.Sleep(5 * time.Minute)
		enginetest.Submit(t, loop, fairlead.Job{User: "ann", Payload: []byte("1h")})
		time.Sleep(5 * time.Minute)
		a, err := forecast.New(loop).Why(t.Context(), 2, explain.WhyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		last := a.Levels[len(a.Levels)-1]
		if last.You != "normal" || !strings.Contains(a.Text(),
			"weight of normal (new): 2 = 1 x 2 new jobs, for 10m after they came") {
			t.Errorf("why says:\n%s", a.Text())
		}
		time.Sleep(5 * time.Minute)
		if a, err = forecast.New(loop).Why(t.Context(), 3, explain.WhyOptions{}); err != nil ||
			a.Levels[len(a.Levels)-1].You != "normal" {
			t.Errorf("it is still new: %v\n%s", err, a.Text())
		}
	})
}
