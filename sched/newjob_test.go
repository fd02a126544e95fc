package sched_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

func newJobs(t testing.TB, slots int64, n sched.NewJobs) *world {
	w := newWorld(t, share.Pool{Policy: "fair"}, slots, 1)
	w.favour(n)
	return w
}

func (w *world) favour(n sched.NewJobs) {
	w.t.Helper()
	cfg := sched.Config{Root: share.Pool{Policy: "fair"}, NewPolicy: policy.New(policy.Options{}), NewJobs: n, PriorityWeights: true}
	if err := w.Configure(cfg, w.now); err != nil {
		w.t.Fatal(err)
	}
}

// send submits a job with its submission time.
func (w *world) send(pool string, tasks int) sched.Job {
	w.last++
	j := sched.Job{ID: w.last, Pool: w.Pool(pool), Key: w.Key(nil), Priority: normal, Tasks: tasks, Submitted: w.now}
	w.Add(j, w.now)
	return j
}

func (w *world) in(j sched.Job) string { return w.Read().Name(w.Leaf(j)) }

// TestNewJobsCountMore: new jobs count more within their pool, for a time.
func TestNewJobsCountMore(t *testing.T) {
	w := newJobs(t, 1, sched.NewJobs{Factor: 3, For: time.Hour})
	old := w.send("a", 10_000)
	w.tick(time.Hour)
	w.Advance(w.now)
	late := w.send("a", 10_000)
	if w.in(old) != "normal" || w.in(late) != "normal (new)" {
		t.Fatalf("the jobs are in %q and %q", w.in(old), w.in(late))
	}
	if w.Step(w.now, 1, &w.d); !w.d.Next.Equal(w.now.Add(time.Hour)) {
		t.Errorf("next %v, want in an hour", w.d.Next)
	}
	w.Abort(w.d.Starts[0].Run, w.now, true)
	count := map[int64]int{}
	for range 100 {
		s := w.step(1)[0]
		count[s.Job]++
		w.tick(10 * time.Second)
		w.Finish(s.Run, w.now, true)
	}
	if n := count[late.ID]; n < 74 || n > 76 {
		t.Errorf("the new job got %d of 100, want three of four", n)
	}
	w.tick(time.Hour)
	if w.Advance(w.now); w.in(late) != "normal" {
		t.Errorf("it is still in %q", w.in(late))
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestNewJobsAreFound: new jobs are found after they moved: to be withdrawn, extended, or adopted.
func TestNewJobsAreFound(t *testing.T) {
	w := newJobs(t, 1, sched.NewJobs{Factor: 2, For: time.Minute})
	fresh, begun := w.send("a", 3), w.send("a", 5)
	w.tick(30 * time.Second)
	w.send("a", 1)
	for _, s := range w.step(1) {
		w.Abort(s.Run, w.now, true)
	}
	w.tick(30 * time.Second)
	if w.Advance(w.now); w.in(fresh) != "normal" || w.in(begun) != "normal" {
		t.Errorf("the jobs are in %q and %q", w.in(fresh), w.in(begun))
	}
	again := begun
	again.Tasks = 2
	w.Add(again, w.now)
	if n := w.Withdraw(fresh, w.now); n != 3 {
		t.Errorf("%d tasks withdrawn, want 3", n)
	}
	if n := w.Withdraw(begun, w.now); n != 7 {
		t.Errorf("%d tasks withdrawn, want 7", n)
	}
	if n := w.View(sched.Root).Waiting; n != 1 {
		t.Errorf("%d wait, want 1", n)
	}
	node, _ := w.Cluster().Lookup("n")
	w.Finish(w.Adopt(fresh, node, w.now, w.now), w.now, true)
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestNewJobsOfConfigurations: a change of the setting moves the jobs that are no longer new.
func TestNewJobsOfConfigurations(t *testing.T) {
	w := newJobs(t, 1, sched.NewJobs{Factor: 2, For: time.Hour})
	a, b := w.send("a", 1), w.send("a", 1)
	w.tick(10 * time.Minute)
	c := w.send("a", 1)
	w.favour(sched.NewJobs{Factor: 4, For: 10 * time.Minute})
	if w.in(a) != "normal" || w.in(c) != "normal (new)" || w.View(w.Leaf(c)).Weight != 4 {
		t.Errorf("the jobs are in %q and %q", w.in(a), w.in(c))
	}
	w.favour(sched.NewJobs{})
	if w.in(b) != "normal" || w.in(c) != "normal" {
		t.Errorf("switched off, the jobs are in %q and %q", w.in(b), w.in(c))
	}
	if w.Step(w.now, 0, &w.d); !w.d.Next.IsZero() {
		t.Errorf("next %v, want none", w.d.Next)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestNewJobsKeepTheirCount: no task is lost or doubled on the way from one priority class to
// another.
func TestNewJobsKeepTheirCount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newJobs(t, 3, sched.NewJobs{Factor: 2, For: time.Minute})
		jobs := map[int64]sched.Job{}
		waiting := map[int64]int{}
		type started struct {
			run sched.RunID
			job int64
		}
		var runs []started
		for range rapid.IntRange(1, 60).Draw(rt, "events") {
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0, 1:
				j := w.send(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "pool"), rapid.IntRange(1, 4).Draw(rt, "tasks"))
				jobs[j.ID], waiting[j.ID] = j, j.Tasks
			case 2:
				w.tick(time.Duration(rapid.IntRange(1, 40).Draw(rt, "seconds")) * time.Second)
			case 3:
				for _, s := range w.step(1) {
					waiting[s.Job]--
					runs = append(runs, started{s.Run, s.Job})
				}
			case 4:
				if len(runs) > 0 {
					if rapid.Bool().Draw(rt, "again") {
						w.Abort(runs[0].run, w.now, true)
						waiting[runs[0].job]++
					} else {
						w.Finish(runs[0].run, w.now, true)
					}
					runs = runs[1:]
				}
			case 5:
				if len(jobs) > 0 {
					id := rapid.Int64Range(1, w.last).Draw(rt, "job")
					if n := w.Withdraw(jobs[id], w.now); n != waiting[id] {
						rt.Fatalf("%d tasks of job %d withdrawn, %d waited", n, id, waiting[id])
					}
					waiting[id] = 0
				}
			}
			w.Advance(w.now)
			total := 0
			for id, n := range waiting {
				total += n
				if now, _ := w.Read().Waits(jobs[id]); n > 0 && !now {
					rt.Fatalf("job %d is not found; it is in %q", id, w.in(jobs[id]))
				}
			}
			if got := w.View(sched.Root).Waiting; int(got) != total {
				rt.Fatalf("%d wait, want %d", got, total)
			}
			if err := w.Check(); err != nil {
				rt.Fatal(err)
			}
		}
	})
}
