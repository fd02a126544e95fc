package qs_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/sim/qs"
	"github.com/fairlead/fairlead/why"
)

var groups = []string{"physics", "biology", "chemistry"}

// settings returns weights of 50/30/20 with two priority groups.
func settings(t testing.TB) frontback.Settings {
	t.Helper()
	b, err := frontback.Builtin().New("cpu_time", frontback.Parameters{})
	if err != nil {
		t.Fatal(err)
	}
	return frontback.Settings{
		Groups: []frontback.Group{{Name: "physics", Weight: 50}, {Name: "biology", Weight: 30},
			{Name: "chemistry", Weight: 20}},
		Priority: []string{"daq", "calib"},
		Benefit:  b,
	}
}

func run(t testing.TB, s frontback.Settings, q qs.Server, jobs []qs.Job) []qs.Ran {
	t.Helper()
	ran, err := qs.Run(s, q, jobs)
	if err != nil {
		t.Fatal(err)
	}
	if len(ran) != len(jobs) {
		t.Fatalf("%d of %d jobs ran", len(ran), len(jobs))
	}
	return ran
}

// TestByHand has one worker and jobs of 10 s.
//
//	 0 s  1 physics    10/10  > 0.5  back, and starts; 2 physics  20/20  back
//	 1 s  3 biology    10/30  > 0.3  back; 4 chemistry 10/40 > 0.2 back
//	 2 s  5 chemistry  20/50  > 0.2  back; 6 biology   20/60 > 0.3 back
//	 3 s  7 physics    30/70         front; 8 calib, 9 daq above
//	10 s  1 ends; then 9, 8, 7, and the jobs at the back in their order: 2, 3, 4, 5, 6
func TestByHand(t *testing.T) {
	var jobs []qs.Job
	for i, j := range []struct {
		at    int
		group string
	}{{0, "physics"}, {0, "physics"}, {1, "biology"}, {1, "chemistry"}, {2, "chemistry"}, {2, "biology"}, {3,
		"physics"}, {3, "calib"}, {3, "daq"}} {
		jobs = append(jobs, qs.Job{ID: int64(i + 1), Group: j.group, Arrives: time.Duration(j.at) * time.Second,
			Runs: 10 * time.Second, Estimate: 10 * time.Second})
	}
	for _, c := range []struct {
		server qs.Server
		want   string
	}{
		{qs.Server{Workers: 1}, "1@0 9@10 8@20 7@30 2@40 3@50 4@60 5@70 6@80"},
		{qs.Server{Workers: 1, Fifo: true}, "1@0 2@10 3@20 4@30 5@40 6@50 7@60 8@70 9@80"},
		// The priority rises by one in 2 s: job 2 came 3 s before job 7 and has risen by more than the difference
		// between back and front; jobs 3 and 4 came 2 s before it and are level with it.
		{qs.Server{Workers: 1, Ages: 2 * time.Second}, "1@0 9@10 8@20 2@30 3@40 4@50 7@60 5@70 6@80"},
		{qs.Server{Workers: 2}, "1@0 2@0 9@10 8@10 7@20 3@20 4@30 5@30 6@40"},
	} {
		var got []string
		for _, r := range run(t, settings(t), c.server, jobs) {
			got = append(got, fmt.Sprintf("%d@%d", r.ID, int(r.Start.Seconds())))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: %s, by hand %s", c.server, text, c.want)
		}
	}
}

// passed counts the starts of jobs while a job of a higher priority waited.
func passed(ran []qs.Ran) (n int) {
	for _, r := range ran {
		for _, w := range ran {
			if w.Arrives <= r.Start && w.Start > r.Start && w.Decision.Priority > r.Decision.Priority {
				n++
			}
		}
	}
	return n
}

// TestD3NothingStartsBeforeAHigherGroup checks that a free worker takes the waiting job with the highest
// priority, and the first of equals; that no worker is idle while a job waits; and that every decision
// follows from its numbers.
func TestD3NothingStartsBeforeAHigherGroup(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := settings(t)
		s.AtStart = rapid.Bool().Draw(rt, "at start")
		var jobs []qs.Job
		for i := range rapid.IntRange(1, 60).Draw(rt, "jobs") {
			jobs = append(jobs, qs.Job{
				ID: int64(i), Group: rapid.SampledFrom(append(slices.Clone(groups), s.Priority...)).Draw(rt, "group"),
				Arrives: time.Duration(rapid.IntRange(0, 100).Draw(rt, "arrives")) * time.Second,
				Runs:    time.Duration(rapid.IntRange(0, 20).Draw(rt, "runs")) * time.Second, Estimate: 10 * time.Second,
				Fails: rapid.Bool().Draw(rt, "fails"),
			})
		}
		workers := rapid.IntRange(1, 4).Draw(rt, "workers")
		ran := run(t, s, qs.Server{Workers: workers}, jobs)
		if n := passed(ran); n > 0 {
			rt.Fatalf("%d starts before a job of a higher priority", n)
		}
		for i, r := range ran {
			busy := 0
			for k, o := range ran {
				if k > i && o.Arrives <= r.Start && o.Decision.Priority == r.Decision.Priority &&
					cmp.Or(cmp.Compare(o.Arrives, r.Arrives), cmp.Compare(o.ID, r.ID)) < 0 {
					rt.Fatalf("%+v starts before %+v", r, o)
				}
				if k != i && o.Start < r.Start && o.End >= r.Start {
					busy++
				}
			}
			if r.Start > r.Arrives && busy < workers &&
				!slices.ContainsFunc(ran[:i], func(o qs.Ran) bool { return o.Start == r.Start }) {
				rt.Fatalf("%+v waited beside a free worker", r)
			}
			if checks := frontback.Verify(&r.Decision); !why.Verified(checks) {
				rt.Fatalf("%+v", checks)
			}
		}
	})
}

// TestD6AgeingBreaksIt checks that jobs of fair-share groups start before waiting jobs of priority groups if
// the queueing system raises waiting jobs.
func TestD6AgeingBreaksIt(t *testing.T) {
	jobs := slices.Concat(flood(1, 1, 1, 1).jobs(1, 12*time.Hour), priority(12*time.Hour))
	for ages, broken := range map[time.Duration]bool{0: false, time.Hour: true} {
		if n := passed(run(t, settings(t), qs.Server{Workers: workers, Ages: ages}, jobs)); n > 0 != broken {
			t.Errorf("one priority in %v: %d starts before a job of a higher priority", ages, n)
		}
	}
}
