package demo_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/demo"
)

// TestWaitsAreOfTheSameJobs checks that a job that started in only one phase is in no mean.
func TestWaitsAreOfTheSameJobs(t *testing.T) {
	zero := time.Unix(1_700_000_000, 0)
	run := func(job int64, user string, wait time.Duration) demo.Run {
		return demo.Run{Job: job, User: user, Submitted: zero, Start: zero.Add(wait)}
	}
	waits := demo.Run{Job: 2, User: "alice", Submitted: zero}
	got := demo.Compare(
		[]demo.Run{run(1, "alice", time.Second), run(2, "alice", time.Hour), run(3, "bob", 9*time.Second)},
		[]demo.Run{run(3, "bob", 2*time.Second), run(1, "alice", 3*time.Second), waits},
	)
	for i, want := range []demo.Waits{
		{User: "alice", Jobs: 1, Means: []time.Duration{time.Second, 3 * time.Second}},
		{User: "bob", Jobs: 1, Means: []time.Duration{9 * time.Second, 2 * time.Second}},
		{User: "carol", Means: []time.Duration{0, 0}},
	} {
		if x := got[i]; x.User != want.User || x.Jobs != want.Jobs || !slices.Equal(x.Means, want.Means) {
			t.Errorf("%+v, want %+v", x, want)
		}
	}
}

// TestDemoComparesWhatBothHalvesStarted checks that the comparison of the flood uses only jobs that fair share, too,
// had started.
func TestDemoComparesWhatBothHalvesStarted(t *testing.T) {
	var all [][]demo.Run
	for _, policy := range []string{"fifo", "fair"} {
		s, err := demo.Simulate(policy)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s.Runs)
	}
	waits := demo.Compare(all...)
	if alice, bob := waits[0], waits[1]; alice.Jobs < 20 || alice.Jobs > 200 || bob.Jobs != 20 ||
		bob.Means[1] >= bob.Means[0] || alice.Means[0] > alice.Means[1] {
		t.Errorf("%+v", waits)
	}
}
