package forecast

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// kthSP2 is a log of a machine of a hundred processors. The test uses it if it exists.
const kthSP2 = "../../../shared/traces/kth-sp2.swf.gz"

// wholeLog replays the whole log, under four policies, with a range for every 25th wait. The table of
// docs/explanation/backfill.md comes from it.
var wholeLog = flag.Bool("whole-log", false, "measure the estimates on the whole of a real log; some minutes")

// TestEstimatesOfARealLog replays a real log, asks for an estimate for each job that has to wait when it is submitted,
// and compares the estimate with the start in the replay.
func TestEstimatesOfARealLog(t *testing.T) {
	w, every := realLog(t, kthSP2), 25
	policies, backfills := []string{"fifo", "fair"}, []sched.Backfill{sched.EASY, sched.Conservative}
	if !*wholeLog {
		w.Jobs, every, policies, backfills = w.Jobs[:2000], 100, policies[:1], backfills[:1]
	}
	for _, policy := range policies {
		for _, backfill := range backfills {
			r := &rehearsal{w: w, every: every}
			r.play(t, policy, backfill)
			t.Logf("%s + %v: %s", policy, backfill, r)
			if bound := r.ratios(func(w waiting) time.Time { return w.by }); len(bound) < 500 || bound[len(bound)/2] > 3 ||
				r.kept() < 0.8 {
				t.Errorf("%s + %v: the estimates are worse than they were", policy, backfill)
			}
			if backfill == sched.Conservative && policy == "fifo" && r.kept() != 1 {
				t.Errorf("%s: room was kept for every job, and a bound was not kept", policy)
			}
		}
	}
}

// realLog reads a log, with a pool for each user.
func realLog(t *testing.T, file string) *sim.Workload {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Skipf("not measured, as there is no log of a real machine here: %v", err)
	}
	defer f.Close()
	trace, err := swf.Read(file, f)
	if err != nil {
		t.Fatal(err)
	}
	jobs, report, err := trace.Jobs(swf.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.FromTrace(trace, jobs, report.Procs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// rehearsal is a replay that asks for estimates.
type rehearsal struct {
	w     *sim.Workload
	every int // one of this number of estimates also uses recent run times

	core    *sched.Scheduler
	lengths engine.Lengths
	now     int64
	runs    map[int64]sched.RunID
	pools   map[int64]sched.PoolID // the charged pool, by job
	ends    map[int64][]int64      // jobs by the second in which they end
	waits   map[int64]*waiting
	all     []waiting
	d       sched.Decision
}

// waiting is the estimate of a job that had to wait, and its real start.
type waiting struct {
	submitted, by, middle, early, late, started time.Time
}

func (r *rehearsal) at(second int64) time.Time {
	return r.w.Zero.Add(time.Duration(second) * time.Second)
}

func (r *rehearsal) play(t *testing.T, policy string, backfill sched.Backfill) {
	cfg := allocation.Default().Sched
	cfg.Root.Policy, cfg.Backfill = policy, backfill
	core, err := sched.New(cfg, r.at(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	r.core, r.lengths, r.runs, r.pools, r.ends, r.waits = core, engine.Lengths{}, map[int64]sched.RunID{},
		map[int64]sched.PoolID{}, map[int64][]int64{}, map[int64]*waiting{}
	core.Join("machine", cluster.Amounts{"cpu": int64(r.w.Procs)}, r.at(0))
	var due []int64 // seconds in which something ends
	for next := 0; next < len(r.w.Jobs) || len(due) > 0; {
		if len(due) == 0 || next < len(r.w.Jobs) && r.w.Jobs[next].Submit <= due[0] {
			r.now = r.w.Jobs[next].Submit
		} else {
			r.now = due[0]
		}
		for len(due) > 0 && due[0] == r.now {
			due = due[1:]
		}
		r.finish()
		first := next
		for ; next < len(r.w.Jobs) && r.w.Jobs[next].Submit == r.now; next++ {
			r.add(int64(next))
		}
		for _, end := range r.step() {
			i, known := slices.BinarySearch(due, end)
			if !known {
				due = slices.Insert(due, i, end)
			}
		}
		for job := first; job < next; job++ {
			r.ask(int64(job), backfill)
		}
	}
}

func (r *rehearsal) add(job int64) {
	j := &r.w.Jobs[job]
	r.core.Add(sched.Job{
		ID: job + 1, Pool: r.core.Pool(r.w.Pools[j.Pool]), Priority: 2, Tasks: 1, Submitted: r.at(r.now),
		Key: r.core.Key(cluster.Amounts{"cpu": int64(j.Procs)}), Limit: time.Duration(max(1, j.Estimate)) * time.Second,
	}, r.at(r.now))
}

func (r *rehearsal) finish() {
	for _, job := range r.ends[r.now] {
		r.core.Finish(r.runs[job], r.at(r.now), true)
		r.lengths.Note(r.pools[job], time.Duration(r.w.Jobs[job-1].Run)*time.Second)
		delete(r.runs, job)
	}
	delete(r.ends, r.now)
}

// step starts all tasks that can start now, and returns when they will end.
func (r *rehearsal) step() (ends []int64) {
	for r.d.More = true; r.d.More; {
		r.core.Step(r.at(r.now), 0, &r.d)
		for _, st := range r.d.Starts {
			j := &r.w.Jobs[st.Job-1]
			end := r.now + max(1, j.Run)
			r.runs[st.Job], r.pools[st.Job], ends = st.Run, st.Pool, append(ends, end)
			r.ends[end] = append(r.ends[end], st.Job)
			if w := r.waits[st.Job]; w != nil {
				w.started = r.at(r.now)
				r.all = append(r.all, *w)
				delete(r.waits, st.Job)
			}
		}
	}
	return ends
}

// ask asks when a job will start, if it has to wait.
func (r *rehearsal) ask(job int64, backfill sched.Backfill) {
	if _, runs := r.runs[job+1]; runs {
		return
	}
	e := &estimator{future: r.core.Fork().AsFuture(&sched.Room{}), job: job + 1, began: r.at(r.now), lengths: r.lengths,
		mean: time.Duration(r.core.View(sched.Root).Mean * float64(time.Second))}
	var out why.Estimate
	w := &waiting{submitted: e.began}
	if backfill == sched.Conservative {
		if kept := r.core.Read().KeptFor(job + 1); kept != nil {
			w.by = kept.From
		}
	} else if e.bound(&out); out.By != nil {
		w.by = *out.By
	}
	if len(r.waits)+len(r.all) > 0 && (len(r.waits)+len(r.all))%r.every == 0 {
		if e.replay(&out); out.Replays > 0 {
			w.early, w.middle, w.late = *out.Early, *out.Middle, *out.Late
		}
	}
	r.waits[job+1] = w
}

// ratios returns the estimated waits divided by the real waits, in order.
func (r *rehearsal) ratios(of func(waiting) time.Time) []float64 {
	var all []float64
	for _, w := range r.all {
		if real := w.started.Sub(w.submitted); real > 0 && !of(w).IsZero() {
			all = append(all, float64(of(w).Sub(w.submitted))/float64(real))
		}
	}
	slices.SortFunc(all, cmp.Compare)
	return all
}

// kept returns the fraction of the bounds that were kept.
func (r *rehearsal) kept() float64 {
	kept, all := 0, 0
	for _, w := range r.all {
		if !w.by.IsZero() {
			if all++; !w.started.After(w.by) {
				kept++
			}
		}
	}
	return float64(kept) / float64(all)
}

// within returns the fraction of the jobs that started between the early and the late instant.
func (r *rehearsal) within() float64 {
	in, all := 0, 0
	for _, w := range r.all {
		if !w.early.IsZero() {
			if all++; !w.started.Before(w.early) && !w.started.After(w.late) {
				in++
			}
		}
	}
	return float64(in) / float64(all)
}

func (r *rehearsal) String() string {
	text := ""
	for _, x := range []struct {
		name string
		all  []float64
	}{{"bound", r.ratios(func(w waiting) time.Time { return w.by })}, {"middle of the range",
		r.ratios(func(w waiting) time.Time { return w.middle })}} {
		at := func(part float64) float64 { return x.all[int(part*float64(len(x.all)-1))] }
		text += fmt.Sprintf("%d waits, %s over real: median %.2f, p10 %.2f, p90 %.1f; ", len(x.all), x.name, at(0.5), at(0.1),
			at(0.9))
	}
	return text + fmt.Sprintf("%.1f%% started by the bound, %.1f%% within the range", 100*r.kept(), 100*r.within())
}
