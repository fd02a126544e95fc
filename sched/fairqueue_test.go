package sched_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// The behaviours A1 to A8 of the fair job queue ("Fair Job Queue Scheduling")
// that the core has; A7 to A10 also concern the store and are tested there.

const picks = 100_000

// pick lets the scheduler start one task at a time. Each task ends at once and waits again, so that the same tuples
// wait at every pick.
func pick(t *testing.T, w *world, jobs []sched.Job, n int) map[string]int {
	t.Helper()
	byID := map[int64]sched.Job{}
	for _, j := range jobs {
		byID[j.ID] = j
	}
	count := map[string]int{}
	for range n {
		starts := w.step(1)
		if len(starts) != 1 {
			t.Fatalf("%d starts, want 1", len(starts))
		}
		count[w.Path(starts[0].Pool)]++
		w.tick(time.Second)
		w.Finish(starts[0].Run, w.now, true)
		again := byID[starts[0].Job]
		again.Tasks = 1
		w.Add(again, w.now)
	}
	return count
}

// priorityClass fails if a count lies outside the 95% interval of a binomial distribution, widened to hold for all
// counts of a test together (Bonferroni, 8 counts).
func priorityClass(t *testing.T, what string, got, n int, p float64) {
	t.Helper()
	sigma := math.Sqrt(float64(n) * p * (1 - p))
	if d := math.Abs(float64(got) - float64(n)*p); d > 2.74*sigma {
		t.Errorf("%s: %d of %d picks, want %.1f%% (off by %.1f sigma)", what, got, n, 100*p, d/sigma)
	}
}

func tuples(w *world, glut int, paths ...string) []sched.Job {
	var jobs []sched.Job
	for _, p := range paths {
		for range glut {
			jobs = append(jobs, w.submit(p, 1))
		}
		glut = 1 // the first has the glut
	}
	return jobs
}

// TestA1NoPayload reads the types with which jobs enter and leave the core.
func TestA1NoPayload(t *testing.T) {
	fields := fmt.Sprintf("%+v %+v", sched.Job{}, sched.Start{})
	for _, word := range []string{"Argv", "Payload", "Env", "Command", "Name"} {
		if strings.Contains(fields, word) {
			t.Errorf("the core sees %s: %s", word, fields)
		}
	}
}

func TestA2OneLevel(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "lottery"}, 1, 42)
	count := pick(t, w, tuples(w, 1, "A.1", "A.2", "A.3", "B.1"), picks)
	for _, p := range []string{"A.1", "A.2", "A.3", "B.1"} {
		priorityClass(t, p, count[p], picks, 0.25)
	}
	priorityClass(t, "A", picks-count["B.1"], picks, 0.75)
}

func TestA3TwoLevels(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "lottery"}, 1, 43)
	count := pick(t, w, tuples(w, 1, "A/1", "A/2", "A/3", "B/1"), picks)
	priorityClass(t, "B/1", count["B/1"], picks, 0.5)
	for _, p := range []string{"A/1", "A/2", "A/3"} {
		priorityClass(t, p, count[p], picks, 1.0/6)
	}
}

func TestA4GlutChangesNothing(t *testing.T) {
	for levels, glut := range map[string]int{"A.1 A.2 A.3 B.1": 100_000, "A/1 A/2 A/3 B/1": 1_000_000} {
		paths := strings.Fields(levels)
		few := newWorld(t, share.Pool{Policy: "lottery"}, 1, 44)
		many := newWorld(t, share.Pool{Policy: "lottery"}, 1, 44)
		a := pick(t, few, tuples(few, 1, paths...), picks)
		b := pick(t, many, tuples(many, glut, paths...), picks)
		for _, p := range paths {
			if a[p] != b[p] {
				t.Errorf("%s: %d picks, with a glut of %d jobs in %s %d", p, a[p], glut, paths[0], b[p])
			}
		}
	}
}

// TestA4FairKeepsEqualParts is the same test under fair, where the parts are exactly equal.
func TestA4FairKeepsEqualParts(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 1, 1)
	count := pick(t, w, tuples(w, 100_000, "A/1", "A/2", "A/3", "B/1"), 6000)
	want := map[string]int{"A/1": 1000, "A/2": 1000, "A/3": 1000, "B/1": 3000}
	for p, n := range want {
		if d := count[p] - n; d < -1 || d > 1 {
			t.Errorf("%s: %d picks, want %d", p, count[p], n)
		}
	}
}

func TestA5OneTupleGetsEverything(t *testing.T) {
	for _, name := range policy.Names() {
		w := newWorld(t, share.Pool{Policy: name}, 64, 1)
		for range 100 {
			w.submit("only/one", 1)
		}
		if got := len(w.step(0)); got != 64 {
			t.Errorf("%s: %d of 64 slots are used although 100 jobs wait", name, got)
		}
	}
}

func TestA6Shortlist(t *testing.T) {
	for _, c := range []struct {
		pools, jobs, slots     int
		wantPools, wantPerPool int
		wantMore               bool
	}{
		{0, 0, 1000, 5, 10, true}, // the document's numbers are the default
		{2, 3, 1000, 2, 3, true},
		{5, 10, 7, 1, 7, false}, // no more than there is room for
	} {
		policies := policy.New(policy.Options{ShortlistPools: c.pools, ShortlistJobs: c.jobs})
		s, err := sched.New(sched.Config{Root: share.Pool{Policy: "lottery"}, NewPolicy: policies}, epoch, 5)
		if err != nil {
			t.Fatal(err)
		}
		s.Join("n", cluster.Amounts{"cpu": int64(c.slots)}, epoch)
		w := &world{Scheduler: s, t: t, now: epoch}
		for range 100 {
			for user := range 50 {
				w.submit(fmt.Sprint("u", user), 1)
			}
		}
		w.Step(w.now, 0, &w.d)
		draws := map[string]int{}
		for _, p := range w.paths(w.d.Starts) {
			draws[p]++
		}
		if len(draws) > c.wantPools || len(w.d.Starts) != c.wantPools*c.wantPerPool || w.d.More != c.wantMore {
			t.Errorf("%+v: took %v, more %v", c, draws, w.d.More)
		}
		if !c.wantMore {
			continue
		}
		// The next steps use the rest of the capacity.
		if all := len(w.d.Starts) + len(w.step(0)); all != c.slots {
			t.Errorf("%+v: %d of %d slots used by further steps", c, all, c.slots)
		}
	}
}

// TestA6NewStepWhenCapacityFrees: after a task has ended, and after a task could not run, the next step starts another.
func TestA6NewStepWhenCapacityFrees(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "lottery"}, 1, 5)
	w.submit("a", 3)
	first := w.step(0)
	if len(w.step(0)) != 0 {
		t.Fatal("started a task without room")
	}
	w.Finish(first[0].Run, w.now, true)
	second := w.step(0)
	if len(second) != 1 {
		t.Fatal("the freed slot is not used")
	}
	w.Abort(second[0].Run, w.now, false)
	if len(w.step(0)) != 1 {
		t.Fatal("the slot of a job that could not run is not used")
	}
}

// TestA7RunningIsNotWaiting: a started task is neither picked again nor counted.
func TestA7RunningIsNotWaiting(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "lottery"}, 10, 5)
	w.submit("a", 2)
	w.submit("b", 1)
	starts := w.step(0)
	if len(starts) != 3 {
		t.Fatalf("%d starts of 3 tasks on 10 slots", len(starts))
	}
	if p := w.View(sched.Root); p.Waiting != 0 || p.Tasks != 3 {
		t.Fatalf("%d wait and %d run, want 0 and 3", p.Waiting, p.Tasks)
	}
}

// TestA8CouldNotRun: a task that could not run goes back into its pool, in its old
// place, and nothing is charged for it.
func TestA8CouldNotRun(t *testing.T) {
	w := newWorld(t, share.Pool{Policy: "fair"}, 1, 5)
	first, second := w.submit("a", 1), w.submit("a", 1)
	start := w.step(0)[0]
	if start.Job != first.ID {
		t.Fatalf("started %d first", start.Job)
	}
	w.tick(time.Second)
	w.Abort(start.Run, w.now, true)
	var order []int64
	for range 2 {
		start = w.step(0)[0]
		order = append(order, start.Job)
		w.Finish(start.Run, w.now, true)
	}
	if !slices.Equal(order, []int64{first.ID, second.ID}) {
		t.Fatalf("order %v after the return, want %d before %d", order, first.ID, second.ID)
	}
	if p := w.View(sched.Root); p.Service(w.Read().Now()) != 0 {
		t.Fatalf("charged %v slot-seconds for a task that never ran", p.Service(w.Read().Now()))
	}
}
