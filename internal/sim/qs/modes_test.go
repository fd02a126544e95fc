package qs_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/sim/qs"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// justInTime returns the runs if jobs are kept back and handed over as workers become free, in the order of
// the policy fair with the weights 50, 30 and 20.
func justInTime(t testing.TB, jobs []qs.Job) []qs.Ran {
	t.Helper()
	w := &sim.Workload{Name: "made", Procs: workers, Users: groups, Pools: groups}
	kept := inSeconds(jobs)
	for _, j := range kept {
		n := int32(0)
		for groups[n] != j.Group {
			n++
		}
		w.Jobs = append(w.Jobs, sim.Job{
			ID: j.ID, Submit: int64(j.Arrives / time.Second), Run: int64(j.Runs / time.Second), Estimate: int64(j.Estimate / time.Second),
			Procs: 1, User: n, Pool: n,
		})
	}
	root := share.Pool{Policy: "fair"}
	for i, weight := range []float64{50, 30, 20} {
		root.Pools = append(root.Pools, share.Pool{Name: groups[i], Weight: weight})
	}
	r, err := sim.Run(w, sim.Options{Bare: true,
		Config: sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), HalfLife: 24 * time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	var ran []qs.Ran
	for i, at := range r.Schedule.Start {
		start := time.Duration(at) * time.Second
		ran = append(ran, qs.Ran{Job: kept[i], Start: start, End: start + kept[i].Runs})
	}
	return ran
}

// inSeconds returns jobs in the order of arrival, with times in whole seconds.
func inSeconds(jobs []qs.Job) []qs.Job {
	kept := append([]qs.Job{}, jobs...)
	byArrival(kept)
	for i := range kept {
		j := &kept[i]
		j.Arrives, j.Runs, j.Estimate = j.Arrives.Truncate(time.Second), j.Runs.Truncate(time.Second), j.Estimate.Truncate(time.Second)
	}
	return kept
}

// TestModes compares the figures of the page with both modes of a bridge.
func TestModes(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	states := func(line string) {
		t.Helper()
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("%s does not state:\n%s", page, line)
		}
	}
	both := func(name string, jobs []qs.Job, until func([]qs.Ran) time.Duration) {
		t.Helper()
		front, kept := ways(t, jobs)[2], justInTime(t, jobs)
		states(fmt.Sprintf("| %s | %s | %s |", name, percents(shares(front, groups, 0, until(front))),
			percents(shares(kept, groups, 0, until(kept)))))
	}
	for _, d := range demands {
		both(d.name, d.jobs(1, days), func([]qs.Ran) time.Duration { return days })
	}
	both("200 jobs of each at once, while all wait", atOnce(), allWait)
	for _, burst := range []int{1, 5, 10, 20} {
		front, kept := 0.0, 0.0
		for seed := uint64(1); seed <= 5; seed++ {
			jobs := flood(0.6, 0.6, 0.6, burst).jobs(seed, 24*time.Hour)
			byArrival(jobs)
			jobs = jobs[:600]
			until := jobs[599].Arrives
			front = math.Max(front, off(shares(ways(t, jobs)[2], groups, 0, until)))
			kept = math.Max(kept, off(shares(justInTime(t, jobs), groups, 0, until)))
		}
		states(fmt.Sprintf("| %d at a time | %.1f | %.1f |", burst, front, kept))
	}
}
