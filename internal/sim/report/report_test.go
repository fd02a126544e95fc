package report

import (
	"bytes"
	"fmt"
	"html"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/golden"
	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

const hour = 3600

// fourJobs returns the jobs of an example in a text on scheduling clusters: two jobs of markov, and one each
// of julie and mendle, on four nodes.
func fourJobs() *sim.Workload {
	return &sim.Workload{Name: "four", Procs: 4, Users: []string{"markov", "julie", "mendle"},
		Pools: []string{"markov", "julie", "mendle"}, Jobs: []sim.Job{
			{ID: 123, Run: 2 * hour, Estimate: 2 * hour, Procs: 2},
			{ID: 124, Run: 2 * hour, Estimate: 2 * hour, Procs: 2},
			{ID: 125, Run: hour, Estimate: hour, Procs: 1, User: 1, Pool: 1},
			{ID: 126, Run: 4 * hour, Estimate: 4 * hour, Procs: 4, User: 2, Pool: 2},
		}}
}

// some returns a workload of random jobs whose users have odd names.
func some(jobs int) *sim.Workload {
	rng := rand.New(rand.NewPCG(4, 4))
	w := &sim.Workload{Name: "some", Procs: 64, Users: []string{"u1", `<img src=x onerror="alert(1)">`, "u3", "a & b"},
		Pools: []string{"u1", "u2", "u3", "u4"}}
	at := int64(0)
	for i := range jobs {
		at += rng.Int64N(1000)
		run := 1 + rng.Int64N(20000)
		user := int32(rng.IntN(4))
		w.Jobs = append(w.Jobs, sim.Job{ID: int64(i + 1), Submit: at, Run: run, Estimate: run, Procs: 1 << rng.IntN(6),
			User: user, Pool: user})
	}
	return w
}

func simulate(t *testing.T, w *sim.Workload, name string, p sched.Backfill) Run {
	t.Helper()
	return under(t, w, share.Pool{Policy: name}, p)
}

func under(t *testing.T, w *sim.Workload, root share.Pool, p sched.Backfill) Run {
	t.Helper()
	cfg := sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Backfill: p}
	r, err := sim.Run(w, sim.Options{Config: cfg, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return Run{Name: root.Policy, Result: r}
}

// TestText draws schedules as tables: exact ones, one with more processors than rows, one that takes longer
// than there are columns, and parts of one.
func TestText(t *testing.T) {
	var b bytes.Buffer
	part := func(what string, r *sim.Result, width int, only *Stretch) {
		fmt.Fprintf(&b, "%s\n", what)
		if err := Text(&b, r, width, only); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b)
	}
	show := func(what string, r *sim.Result, width int) { part(what, r, width, nil) }
	alone := under(t, fourJobs(), share.Pool{Policy: "fifo", MaxRunning: 1}, sched.FCFS)
	show("four jobs, one at a time", alone.Result, 80)
	show("the same, backfilled", &sim.Result{Workload: fourJobs(),
		Schedule: sim.Schedule{Start: []int64{0, 0, 2 * hour, 3 * hour}}, Metrics: sim.Metrics{Makespan: 7 * hour}}, 80)
	show("the same, where 50 columns have to do", alone.Result, 50)
	show("64 processors", simulate(t, some(60), "fifo", sched.FCFS).Result, 100)
	part("of the four jobs what runs from 3h30m on for two hours", alone.Result, 80,
		&Stretch{3*hour + hour/2, 5*hour + hour/2})
	part("from 8h on", alone.Result, 80, &Stretch{8 * hour, 1 << 40})
	part("after the end", alone.Result, 80, &Stretch{10 * hour, 11 * hour})
	golden.Check(t, filepath.Join("testdata", "text.txt"), b.String())
}

// TestAssign checks that no processor has two runs at a time, and that each run has the number of processors
// that it asked for.
func TestAssign(t *testing.T) {
	r := simulate(t, some(2000), "fifo", sched.FirstFit)
	runs := runsOf(r.Result)
	spans, err := assign(runs, r.Workload.Procs)
	if err != nil {
		t.Fatal(err)
	}
	type piece struct{ start, end int64 }
	had := make([][]piece, r.Workload.Procs)
	for i, j := range runs {
		n := 0
		for _, s := range spans[i] {
			n += s.count
			for p := s.first; p < s.end(); p++ {
				for _, x := range had[p] {
					if x.start < j.end && j.start < x.end {
						t.Fatalf("processor %d has two runs at once", p)
					}
				}
				had[p] = append(had[p], piece{j.start, j.end})
			}
		}
		if n != j.procs {
			t.Fatalf("job %d has %d processors, want %d", j.id, n, j.procs)
		}
	}
	runs[5].procs = 65
	if _, err := assign(runs, 64); err == nil || !strings.Contains(err.Error(), "job 6 starts") {
		t.Errorf("a schedule beyond the machine: %v", err)
	}
}

// TestPage checks that the page holds the whole comparison, that nothing comes from elsewhere, and that names
// stay text.
func TestPage(t *testing.T) {
	w := some(1500)
	r := &Report{Title: "some jobs", Command: "fairlead sim compare some.swf", Notes: []string{"2 lines were left out."}}
	for _, name := range []string{"fifo", "fair", "lottery"} {
		r.Runs = append(r.Runs, simulate(t, w, name, sched.FirstFit))
	}
	var a, b bytes.Buffer
	if err := r.HTML(&a); err != nil {
		t.Fatal(err)
	}
	if err := r.HTML(&b); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("the page differs from itself: %v", err)
	}
	page := a.String()
	for _, want := range []string{"<h1>some jobs</h1>", "1,500 jobs of 4 users on 64 processors", "2 lines were left out.",
		"<code>fairlead sim compare some.swf</code>",
		"Waits", "Waiting jobs", "Processors in use", "u3 under lottery", "&lt;img src=x", "around the longest queue of fifo", "<strong>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<img", "http://", "https://", "ZgotmplZ", "NaN"} {
		if rest := strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""); strings.Contains(rest, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if n := len(page); n > 2_000_000 {
		t.Errorf("the page has %d bytes", n)
	}
}

// TestPolicyOfThePage checks that the page allows its own style and script, by their hashes, and no other.
func TestPolicyOfThePage(t *testing.T) {
	var b bytes.Buffer
	if err := (&Report{Title: "four", Runs: []Run{simulate(t, fourJobs(), "fifo", sched.FCFS)}}).HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(b.String()[:1000]) + b.String()
	for _, tag := range []string{"script", "style"} {
		_, rest, _ := strings.Cut(b.String(), "<"+tag+">")
		text, _, found := strings.Cut(rest, "</"+tag+">")
		if want := tag + "-src 'sha256-" + hash(text) + "'"; !found || !strings.Contains(page, want) {
			t.Errorf("the page does not allow its own %s: it should say %s", tag, want)
		}
	}
	if n := strings.Count(b.String(), "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
}

// TestPageOfOddSchedules makes pages of a schedule with one job that takes no time, and of the four jobs.
func TestPageOfOddSchedules(t *testing.T) {
	one := &sim.Workload{Name: "one", Procs: 1, Users: []string{"u"}, Pools: []string{"u"},
		Jobs: []sim.Job{{ID: 1, Submit: 7, Run: 0, Procs: 1}}}
	for _, w := range []*sim.Workload{one, fourJobs()} {
		var b bytes.Buffer
		if err := (&Report{Title: w.Name, Runs: []Run{simulate(t, w, "fifo", sched.FCFS)}}).HTML(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "NaN") {
			t.Errorf("%s: the page says NaN", w.Name)
		}
	}
}
