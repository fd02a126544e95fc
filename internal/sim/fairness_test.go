package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// hourLong is the time unit of the invented schedules in seconds.
const hourLong = 3600

// twoHalves returns the work of the invented schedules: eight processors; ann and bob with 480 narrow and 120
// wide jobs of one hour each, four narrow ones and one wide one in turn, which is 240 hours on half of the
// machine. Cid has one job after 30 days, so that all schedules end at the same time.
func twoHalves() *sim.Workload {
	names := []string{"ann", "bob", "cid"}
	w := &sim.Workload{Name: "halves", Procs: 8, Users: names, Pools: names}
	for user := range int32(2) {
		for i := range 600 {
			j := sim.Job{Run: hourLong, Estimate: hourLong, Procs: 1, User: user, Pool: user}
			if i%5 == 4 {
				j.Procs = 4
			}
			w.Jobs = append(w.Jobs, j)
		}
	}
	w.Jobs = append(w.Jobs, sim.Job{Submit: 719 * hourLong, Run: hourLong, Estimate: hourLong, Procs: 1, User: 2, Pool: 2})
	for i := range w.Jobs {
		w.Jobs[i].ID = int64(i + 1)
	}
	return w
}

// madeUp returns the start of the k-th job of a user; the job is in the turn k/5.
type madeUp func(user int32, k int) (second int64)

// sixSchedules holds six schedules of the same work, obviously ordered from fair to unfair.
var sixSchedules = []struct {
	name  string
	start madeUp
}{
	{"each has its half, in order", func(_ int32, k int) int64 { return inTurn(k) * hourLong }},
	{"the same, half an hour late", func(_ int32, k int) int64 {
		return inTurn(k)*hourLong + hourLong/2
	}},
	{"the same, and wide jobs last", func(_ int32, k int) int64 {
		if k%5 == 4 {
			return int64(120+k/5)*hourLong + hourLong/2
		}
		return int64(k/5)*hourLong + hourLong/2
	}},
	{"the flood of ann first", func(user int32, k int) int64 {
		return (120*int64(user) + inTurn(k)/2) * hourLong
	}},
	{"bob has nothing for half of the time", func(user int32, k int) int64 {
		return (120*int64(user) + inTurn(k)) * hourLong
	}},
	{"bob never has anything", func(user int32, k int) int64 {
		if user == 1 {
			return sim.Never
		}
		return inTurn(k) * hourLong
	}},
}

// inTurn returns the hour of the k-th job on half of the machine: four narrow jobs take one hour, the wide
// job takes the next.
func inTurn(k int) int64 {
	hour := int64(k/5) * 2
	if k%5 == 4 {
		hour++
	}
	return hour
}

// TestSixSchedules checks that every measure of fairness puts six schedules in their obvious order, and that
// at least one measure separates each schedule from the next.
func TestSixSchedules(t *testing.T) {
	w := twoHalves()
	cfg := sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}
	var all [][]float64 // by schedule: a larger value is worse
	names := []string{"served", "tenth", "jain", "fair delay", "late"}
	for _, s := range sixSchedules {
		start := make([]int64, len(w.Jobs))
		for i, j := range w.Jobs {
			if start[i] = j.Submit; j.User < 2 {
				start[i] = s.start(j.User, i%600)
			}
		}
		r, err := sim.Measured(w, cfg, start)
		if err != nil {
			t.Fatal(err)
		}
		m := &r.Metrics
		all = append(all, []float64{-m.Served, -m.ServedTenth, -m.Jain, m.FairDelay, m.Late})
		t.Logf("%-40s served %.3f, 90%% %.3f, Jain %.3f, delay %.2f h, late %.2f h", s.name, m.Served,
			m.ServedTenth, m.Jain, m.FairDelay/hourLong, m.Late/hourLong)
	}
	if first := all[0]; !slices.Equal(first, []float64{-1, -1, -1, 0, 0}) {
		t.Errorf("%s: %v", sixSchedules[0].name, first)
	}
	for i := range all[1:] {
		worse := 0
		for k, name := range names {
			if all[i+1][k] < all[i][k]-1e-9 {
				t.Errorf("by %s, %q is fairer than %q: %v, %v", name, sixSchedules[i+1].name, sixSchedules[i].name,
					all[i+1][k], all[i][k])
			}
			if all[i+1][k] > all[i][k]+1e-9 {
				worse++
			}
		}
		if worse == 0 || i > 1 && worse < len(names) {
			t.Errorf("%q is worse than %q by %d measures only", sixSchedules[i+1].name, sixSchedules[i].name,
				worse)
		}
	}
}

// TestFloodImprovesNothing adds further jobs of a user to a schedule in which that user already wants the whole machine
// at every moment. That improves the measure of no user, neither of that user nor of the others.
func TestFloodImprovesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.IntRange(1, 8).Draw(t, "procs")
		names := []string{"a", "b", "c"}
		w := &sim.Workload{Name: "flood", Procs: procs, Users: names, Pools: names}
		weight := float64(rapid.IntRange(1, 3).Draw(t, "weight"))
		cfg := sched.Config{NewPolicy: policy.New(policy.Options{}), Root: share.Pool{Policy: "fair",
			Pools: []share.Pool{{Name: "a", Weight: 1}, {Name: "b", Weight: weight}}}}
		var start []int64
		add := func(user int32, submit, run int64, procs int, at int64) {
			w.Jobs = append(w.Jobs, sim.Job{Submit: submit, Run: run, Procs: int32(procs), User: user, Pool: user})
			start = append(start, at)
		}
		for range procs {
			add(0, 0, 1_000_000, 1, sim.Never)
		}
		for range rapid.IntRange(1, 25).Draw(t, "jobs") {
			submit := int64(rapid.IntRange(0, 40).Draw(t, "submit"))
			user, run := int32(rapid.IntRange(0, 2).Draw(t, "user")), int64(rapid.IntRange(1, 12).Draw(t, "run"))
			wait := int64(rapid.IntRange(0, 50).Draw(t, "wait"))
			add(user, submit, run, rapid.IntRange(1, procs).Draw(t, "width"), submit+wait)
		}
		before := measured(t, w, cfg, start)
		for range rapid.IntRange(1, 20).Draw(t, "flood") {
			submit, run := int64(rapid.IntRange(0, 60).Draw(t, "submit")), int64(rapid.IntRange(1, 30).Draw(t, "run"))
			add(0, submit, run, rapid.IntRange(1, procs).Draw(t, "width"), sim.Never)
		}
		after := measured(t, w, cfg, start)
		for name, x := range before {
			y := after[name]
			less := y.LargestFairDelay < x.LargestFairDelay || y.MaxLate < x.MaxLate-1e-9
			if less || y.Served > x.Served+1e-9 {
				t.Fatalf("%s looks better: %+v, before %+v", name, y, x)
			}
			same := y.FairDelay == x.FairDelay && near(y.Served, x.Served) && near(y.MeanLate, x.MeanLate)
			if name != "a" && !same {
				t.Fatalf("%s looks different: %+v, before %+v", name, y, x)
			}
		}
	})
}

// measured sorts the jobs of a schedule by submission and returns the metrics of its users.
func measured(t *rapid.T, w *sim.Workload, cfg sched.Config, start []int64) map[string]sim.UserMetrics {
	places := make([]int, len(start))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return int(w.Jobs[a].Submit - w.Jobs[b].Submit) })
	x, at := *w, make([]int64, len(start))
	x.Jobs = nil
	for i, k := range places {
		j := w.Jobs[k]
		j.ID = int64(i + 1)
		x.Jobs, at[i] = append(x.Jobs, j), start[k]
	}
	r, err := sim.Measured(&x, cfg, at)
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]sim.UserMetrics{}
	for _, u := range r.Metrics.Users {
		users[u.User] = u
	}
	return users
}

// TestFloodUnderFIFO checks that under FIFO fairness looks worse the more jobs one user submits before the
// other.
func TestFloodUnderFIFO(t *testing.T) {
	last := sim.Metrics{Served: 2, Jain: 2}
	for _, flood := range []int{10, 100, 1000} {
		var lines []string
		for range flood {
			lines = append(lines, "0 60 1 1")
		}
		for range 10 {
			lines = append(lines, "1 60 1 2")
		}
		m := run(t, jobs(t, 4, lines...), fifo(sched.FCFS)).Metrics
		if m.Served >= last.Served || m.Jain >= last.Jain || m.FairDelay <= last.FairDelay || m.Late <= last.Late {
			t.Errorf("with %d jobs: %s, before %s", flood, fairnessOf(&m), fairnessOf(&last))
		}
		last = m
	}
}

func fairnessOf(m *sim.Metrics) string {
	return fmt.Sprintf("served %.3f, Jain %.3f, fair delay %.0f s, late %.0f s", m.Served, m.Jain, m.FairDelay, m.Late)
}
