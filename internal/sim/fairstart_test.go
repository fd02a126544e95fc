package sim_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// listed is the slow, obvious version of fair starts: for each job it visits all other jobs and every second.
type listed struct {
	r     *sim.Result
	root  *share.Pool
	order []string // paths of pools, in the order of creation
	given map[string]float64
}

// of returns the fair start of a job.
func (l *listed) of(job int) int64 {
	w := l.r.Workload
	now := w.Jobs[job].Submit
	free := make([]int64, now+10_000) // processors by second
	for i := range free {
		free[i] = int64(w.Procs)
	}
	take := func(from, to int64, procs int32) {
		for s := from; s < to; s++ {
			free[s] -= int64(procs)
		}
	}
	l.given = map[string]float64{}
	var waiting []int
	for i, j := range w.Jobs {
		start, end := l.r.Schedule.Start[i], l.r.End(i)
		switch {
		case j.Submit > now || start < now && end <= now:
		case start < now:
			take(now, end, j.Procs)
			l.give(i, float64(end-now))
		default:
			waiting = append(waiting, i)
		}
	}
	at := now
	for {
		i := l.next(waiting, "")
		j := &w.Jobs[i]
		for s := at; s < at+max(1, j.Run); s++ {
			if free[s] < int64(j.Procs) {
				at = s + 1
			}
		}
		if i == job {
			return at
		}
		take(at, at+j.Run, j.Procs)
		l.give(i, float64(j.Run))
		waiting = slices.DeleteFunc(waiting, func(k int) bool { return k == i })
	}
}

// names returns the pools of a job from the top down, and its user.
func (l *listed) names(job int) []string {
	j := &l.r.Workload.Jobs[job]
	var names []string
	path := ""
	for _, part := range strings.Split(l.r.Workload.Pools[j.Pool], "/") {
		path = strings.TrimPrefix(path+"/"+part, "/")
		names = append(names, path)
	}
	return append(names, path+" of "+l.r.Workload.Users[j.User])
}

func (l *listed) give(job int, seconds float64) {
	for _, name := range l.names(job) {
		l.given[name] += seconds * float64(l.r.Workload.Jobs[job].Procs)
	}
}

// next returns the next job among the waiting jobs below a pool.
func (l *listed) next(waiting []int, above string) int {
	depth := 0
	if above != "" {
		depth = strings.Count(above, "/") + 1
	}
	best, least, rank := "", 0.0, 0
	for _, i := range waiting {
		name := l.names(i)[depth]
		weight := 1.0
		if c := l.root.Find(name); c != nil {
			weight = c.Weight
		}
		x, place := l.given[name]/weight, slices.Index(l.order, name)
		if best == "" || x < least || x == least && place < rank {
			best, least, rank = name, x, place
		}
	}
	var within []int
	for _, i := range waiting {
		if l.names(i)[depth] == best {
			within = append(within, i)
		}
	}
	if strings.Contains(best, " of ") {
		return within[0]
	}
	return l.next(within, best)
}

// TestFairStarts checks fair starts against a version that visits every second.
func TestFairStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, c := drawn(t)
		r, err := sim.Run(w, sim.Options{Config: c, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		l := &listed{r: r, root: &c.Root, order: []string{"a", "b"}}
		note := func(name string) {
			if !slices.Contains(l.order, name) {
				l.order = append(l.order, name)
			}
		}
		for _, path := range w.Pools {
			if above, _ := share.Cut(path); above != "" {
				note(above)
			}
			note(path)
		}
		for i := range w.Jobs {
			names := l.names(i)
			note(names[len(names)-1])
		}
		sums, largest, jobs := map[string]float64{}, map[string]float64{}, map[string]int{}
		for i, j := range w.Jobs {
			user := w.Users[j.User]
			delay := math.Max(0, float64(r.Schedule.Start[i]-l.of(i)))
			sums[user] += delay
			largest[user] = math.Max(largest[user], delay)
			jobs[user]++
		}
		for _, u := range r.Metrics.Users {
			n, mean, most := jobs[u.User], sums[u.User]/math.Max(1, float64(jobs[u.User])), largest[u.User]
			if u.FairJobs != n || !near(u.FairDelay, mean) || u.LargestFairDelay != most {
				t.Fatalf("%s: %+v; want %d jobs, mean %v, largest %v", u.User, u, n, mean, most)
			}
		}
	})
}

// TestFairStartExample has two processors. Ann's five jobs of 10 s come first, and bob's job after 5 s. Two
// of ann's jobs run then, until 10 s. Bob has no running work, so his job is next, at 10 s; in the order of
// arrival it starts at 20 s.
func TestFairStartExample(t *testing.T) {
	r := run(t, jobs(t, 2, "0 10 1 1", "0 10 1 1", "0 10 1 1", "0 10 1 1", "0 10 1 1", "5 10 1 2"), fifo(sched.FCFS))
	for _, u := range r.Metrics.Users {
		if want := map[string]float64{"u1": 0, "u2": 10}[u.User]; u.FairDelay != want {
			t.Errorf("%s: %+v, want a delay of %v", u.User, u, want)
		}
	}
}

// TestFairStartsOfSome checks that 64 jobs of a user with many jobs are evaluated.
func TestFairStartsOfSome(t *testing.T) {
	w := twoHalves()
	start := make([]int64, len(w.Jobs))
	for i, j := range w.Jobs {
		start[i] = j.Submit + 1000
	}
	cfg := sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{})}
	r, err := sim.Measured(w, cfg, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range r.Metrics.Users {
		if want := map[string]int{"ann": 64, "bob": 64, "cid": 1}[u.User]; u.FairJobs != want {
			t.Errorf("%s: %d jobs, want %d", u.User, u.FairJobs, want)
		}
	}
}
