package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/sim/history"
	"github.com/fairlead/fairlead/queue"
)

// past is a handwritten source.
type past struct {
	jobs  []*queue.Job
	tasks map[int64][]queue.Task
	new   bool // there was no earlier job
}

func (p *past) Jobs(_ context.Context, q queue.Query) ([]*queue.Job, error) {
	if q.Limit == 1 && !q.Newest {
		if p.new {
			return p.jobs[:1], nil
		}
		return []*queue.Job{{ID: 0, Submitted: at(-1000)}}, nil
	}
	out := slices.Clone(p.jobs)
	slices.Reverse(out)
	return out, nil
}

func (p *past) Tasks(_ context.Context, job int64) ([]queue.Task, error) { return p.tasks[job], nil }

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// at returns an instant of the window, which is the hour before noon; minutes count from its beginning.
func at(minutes int) time.Time { return noon.Add(time.Duration(minutes-60) * time.Minute) }

func window() history.Window { return history.Window{From: at(0), To: noon, Unit: "cpu", Units: 4} }

// ran returns a job of one task that ran.
func ran(id int64, user string, submit, start, end, width int) *queue.Job {
	return &queue.Job{
		ID: id, User: user, Pool: user, Tasks: 1, Submitted: at(submit), Started: at(start), Ended: at(end), State: queue.Succeeded,
		Request: queue.Amounts{"cpu": int64(width)},
	}
}

func read(t *testing.T, src *past) *history.Past {
	t.Helper()
	p, err := history.Read(t.Context(), src, window())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func jobsOf(p *history.Past) string {
	var all []string
	for _, j := range p.Jobs {
		runs := ""
		if j.Running {
			runs = " runs"
		}
		all = append(all, fmt.Sprintf("%d %s@%d+%d x%d%s", j.ID, p.Users[j.User], j.Submit/60, j.Run/60, j.Procs, runs))
	}
	return strings.Join(all, ", ")
}

// TestRead checks that tasks that ended run as long as they did, that tasks that began before the window run
// for their remaining time, and that other tasks of the same user give the unknown run times.
func TestRead(t *testing.T) {
	waits := &queue.Job{ID: 4, User: "ann", Pool: "ann", Tasks: 1, Waiting: 1, Submitted: at(50), State: queue.Waiting}
	runs := &queue.Job{ID: 5, User: "ann", Pool: "ann", Tasks: 1, Running: 1, Submitted: at(10), Started: at(20),
		State: queue.Running}
	array := &queue.Job{ID: 6, User: "bob", Pool: "bob", Tasks: 4, Waiting: 2, Running: 1, Succeeded: 1, Submitted: at(30),
		Started: at(30), State: queue.Running}
	held := &queue.Job{ID: 7, User: "ann", Pool: "ann", Tasks: 1, Waiting: 1, Submitted: at(50), State: queue.Held,
		Held: true}
	later := ran(8, "bob", 5, 45, 50, 1)
	later.Begin = at(40)
	after := ran(9, "bob", 5, 30, 35, 1)
	after.After = []queue.Dependency{{Job: 2}}
	src := &past{
		jobs: []*queue.Job{
			ran(1, "ann", -30, -20, 15, 2), // 15 minutes of it in the window
			ran(2, "ann", 3, 5, 25, 1),
			ran(3, "ann", 3, 5, 10, 9), // too wide for the present machine
			waits, runs, array, held, later, after,
			{ID: 10, User: "eve", Pool: "eve", Tasks: 1, State: queue.Cancelled, Submitted: at(1)}, // never ran
		},
		tasks: map[int64][]queue.Task{6: {
			{Job: 6, State: queue.Succeeded, Started: at(30), Ended: at(37)},
			{Job: 6, Index: 1, State: queue.Running, Started: at(30)},
		}},
	}
	p := read(t, src)
	want := "1 ann@0+15 x2 runs, 2 ann@3+20 x1, 5 ann@10+40 x1, 9 bob@25+5 x1, 6 bob@30+7 x1, 6 bob@30+30 x1, 6 bob@30+5 x1, 6 bob@30+5 x1, 8 bob@40+5 x1, 4 ann@50+20 x1"
	if got := jobsOf(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if p.Guessed != 5 || p.TooWide != 1 || p.Unknown != 0 || p.Cut {
		t.Errorf("guessed %d, too wide %d, unknown %d, cut %v", p.Guessed, p.TooWide, p.Unknown, p.Cut)
	}
}

// TestGangsOfThePast checks that a gang is one job as wide as all its tasks, until the last of them ended.
func TestGangsOfThePast(t *testing.T) {
	gang := func(id int64, state queue.State, waiting, running int) *queue.Job {
		j := &queue.Job{ID: id, User: "ann", Pool: "ann", Gang: 2, Tasks: 2, Waiting: waiting, Running: running,
			Submitted: at(5), State: state, Request: queue.Amounts{"cpu": 2}}
		if waiting < 2 {
			j.Started = at(10)
		}
		return j
	}
	task := func(index, end int) queue.Task {
		k := queue.Task{Index: index, State: queue.Running, Started: at(10)}
		if end > 0 {
			k.State, k.Ended = queue.Succeeded, at(end)
		}
		return k
	}
	p := read(t, &past{
		jobs: []*queue.Job{gang(1, queue.Succeeded, 0, 0), gang(2, queue.Running, 0, 1), gang(3, queue.Waiting, 2, 0)},
		tasks: map[int64][]queue.Task{
			1: {task(0, 20), task(1, 30)}, 2: {task(0, 15), task(1, 0)}, 3: {task(0, 15), task(1, 15)}, // waits again
		},
	})
	if got, want := jobsOf(p), "1 ann@5+20 x4, 2 ann@5+50 x4, 3 ann@5+20 x4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestReplayBeginsWithWhatRan checks that jobs that ran when the window began run at once, whatever the
// policy, with the rest of their time limits; a task that has not ended gets a guess minus the time that it
// had run.
func TestReplayBeginsWithWhatRan(t *testing.T) {
	long := &queue.Job{ID: 2, User: "ann", Pool: "ann", Tasks: 1, Running: 1, Submitted: at(-60), Started: at(-50),
		State: queue.Running, Limit: 3 * time.Hour}
	src := &past{jobs: []*queue.Job{
		ran(1, "bob", -50, 20, 30, 4), // waited for the whole machine
		long,
		ran(3, "ann", -30, -20, 20, 3),
		ran(4, "ann", -400, -390, -190, 1), // it began long before, but counts for the median of ann's tasks
	}}
	src.jobs[3].Ended = at(1)
	p := read(t, src)
	if got, want := jobsOf(p), "1 bob@0+10 x4, 2 ann@0+60 x1 runs, 3 ann@0+20 x3 runs, 4 ann@0+1 x1 runs"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if j := p.Jobs[1]; j.Estimate != (130 * 60) {
		t.Errorf("of a limit of 3h 50m are over, %ds are left", j.Estimate)
	}
	p.Jobs = p.Jobs[:3] // the fourth job was one too many for the present machine
	r, err := sim.Run(&p.Workload, sim.Options{Config: shares(t, "{policy: fifo, backfill: fcfs}").Sched, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(r.Schedule.Start), "[3600 0 0]"; got != want {
		t.Errorf("starts at %s, want %s: the first in the queue waits for what runs", got, want)
	}
}

func TestNothingIsKnown(t *testing.T) {
	p := read(t, &past{jobs: []*queue.Job{{ID: 1, User: "ann", Pool: "ann", Tasks: 3, Waiting: 3, State: queue.Waiting}}})
	if len(p.Jobs) != 0 || p.Unknown != 3 {
		t.Errorf("%d jobs, %d unknown", len(p.Jobs), p.Unknown)
	}
}

func shares(t *testing.T, text string) *allocation.Config {
	t.Helper()
	c, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &c.Shares
}

// TestReplay checks that other shares make another user wait, and that a user who always wants more gets its
// share.
func TestReplay(t *testing.T) {
	src := &past{}
	for i := range int64(120) { // two users, each with two hours of work for the whole machine in an hour
		src.jobs = append(src.jobs, ran(2*i+1, "ann", 0, 0, 4, 1), ran(2*i+2, "bob", 0, 0, 4, 1))
	}
	p := read(t, src)
	three := replay(t, p, "pools: {ann: {weight: 3}, bob: {weight: 1}}")
	one := replay(t, p, "pools: {ann: {weight: 1}, bob: {weight: 3}}")
	if a, b := three.Pools["ann"], one.Pools["bob"]; a.Used < 0.72 || a.Used > 0.78 || b.Used < 0.72 || b.Used > 0.78 ||
		a.Tasks != 120 {
		t.Errorf("with weight 3 ann has %+v, bob %+v", a, b)
	}
	if a, b := three.Pools["ann"].MedianWait, one.Pools["ann"].MedianWait; a >= b {
		t.Errorf("ann waits %d s with weight 3, %d s with 1", a, b)
	}
	if three.Utilisation < 0.99 || three.Utilisation > 1.001 {
		t.Errorf("utilisation %v", three.Utilisation)
	}
	if closed := replay(t, p, "pools: {ann: {weight: 1}, bob: {max_running: 1, max: {cpu: 0}}}"); closed.Never != 120 ||
		closed.Pools["bob"].Tasks != 0 || three.Never != 0 {
		t.Errorf("a pool that may have nothing: %+v", closed)
	}
	below := replay(t, p, "pools: {ann: {pools: {ann: {}}}, bob: {weight: 1}}")
	if below.Pools["ann"].Tasks != 120 || below.Pools["ann"].Used < 0.45 {
		t.Errorf("with a pool below: %+v", below)
	}
}

func replay(t *testing.T, p *history.Past, text string) *history.Outcome {
	t.Helper()
	out, err := p.Replay(t.Context(), shares(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReplayCanEnd checks that a replay ends when its context does: the client may have gone.
func TestReplayCanEnd(t *testing.T) {
	src := &past{}
	for i := range int64(5000) {
		src.jobs = append(src.jobs, ran(i+1, "ann", 0, 0, 4, 1))
	}
	p := read(t, src)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Replay(ctx, shares(t, "{}")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestUtilisationSinceTheFirstJob checks that the half hour before the first job of a new server does not
// count as idle.
func TestUtilisationSinceTheFirstJob(t *testing.T) {
	for _, first := range []bool{false, true} {
		p := read(t, &past{jobs: []*queue.Job{ran(1, "ann", 30, 30, 60, 4)}, new: first})
		out, err := p.Replay(t.Context(), &allocation.Config{Sched: config.Default().Shares.Sched})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]float64{false: 0.5, true: 1}[first]; out.Utilisation != want {
			t.Errorf("no job before: %v; utilisation %v, want %v", first, out.Utilisation, want)
		}
	}
}
