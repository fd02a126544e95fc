package sim_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/sim"
	"github.com/fairlead/fairlead/internal/sim/swf"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// gold is the folder of schedules that others wrote and on which two simulators agree; traces is the folder of the logs
// behind them. The tests use the two if they exist.
const (
	gold   = "../../../shared/gold/sim"
	traces = "../../../shared/traces"
)

// backfills maps the suffix of the name of a gold schedule to its backfill.
var backfills = map[string]sched.Backfill{"fcfs": sched.FCFS, "easy": sched.EASY, "cons": sched.Conservative}

// printed holds the published figures of some schedules, as printed.
var printed = map[string]string{
	"hpc2n-3k.fcfs": "5309576 .393957 5588.634 47.0382",
	"hpc2n-3k.easy": "5282045 .396010 3470.190 16.2140",
	"hpc2n-3k.cons": "5282045 .396010 3434.585 16.0436",
	"kth-sp2.fcfs":  "29379608 .685240 353776.409 6814.9733",
	"kth-sp2.easy":  "29363626 .685613 6834.587 92.6877",
	"kth-sp2.cons":  "29363626 .685613 7316.239 88.9666",
}

func fifo(p sched.Backfill) sched.Config {
	return sched.Config{Root: share.Pool{Policy: "fifo"}, NewPolicy: policy.New(policy.Options{}), Backfill: p}
}

// TestGold compares the start of every job, and the figures that follow from the starts.
func TestGold(t *testing.T) {
	files, _ := filepath.Glob(gold + "/*.csv*")
	if len(files) == 0 {
		t.Skip("no schedules in " + gold)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".csv")
		trace, how, _ := strings.Cut(name, ".")
		backfill, known := backfills[how]
		if !known {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := sim.Run(load(t, trace), sim.Options{Config: fifo(backfill), Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			m := r.Metrics
			figures := fmt.Sprintf("%d %s %.3f %.4f", m.Makespan, strings.TrimPrefix(fmt.Sprintf("%.6f", m.Utilisation), "0"),
				m.MeanWait, m.MeanSlowdown)
			if want, known := printed[name]; known && figures != want {
				t.Errorf("got %s, want %s", figures, want)
			}
			compare(t, r, contents(t, file))
		})
	}
}

// compare compares a result with the lines job_id,submit,start,end.
func compare(t *testing.T, r *sim.Result, schedule []byte) {
	lines := bufio.NewScanner(bytes.NewReader(schedule))
	lines.Scan()
	jobs, wrong := 0, 0
	byID := map[int64]int{}
	for i, j := range r.Workload.Jobs {
		byID[j.ID] = i
	}
	for lines.Scan() && wrong < 5 {
		var id, submit, start, end int64
		if _, err := fmt.Sscanf(lines.Text(), "%d,%d,%d,%d", &id, &submit, &start, &end); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		i, known := byID[id]
		jobs++
		if !known || r.Schedule.Start[i] != start || r.End(i) != end {
			wrong++
			t.Errorf("job %d: submitted %d, started %d, want %d", id, submit, r.Schedule.Start[i], start)
		}
	}
	if jobs != len(r.Workload.Jobs) && wrong == 0 {
		t.Errorf("%d jobs, want %d", len(r.Workload.Jobs), jobs)
	}
}

// load reads a trace by its name.
func load(t testing.TB, name string) *sim.Workload {
	t.Helper()
	file := filepath.Join(traces, name+".swf.gz")
	if _, err := os.Stat(file); err != nil {
		file = filepath.Join(traces, "synthetic", name+".swf")
	}
	return workload(t, name, contents(t, file), swf.Rules{})
}

func workload(t testing.TB, name string, text []byte, rules swf.Rules) *sim.Workload {
	t.Helper()
	trace, err := swf.Read(name, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	jobs, report, err := trace.Jobs(rules)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.FromTrace(trace, jobs, report.Procs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// contents reads a file, compressed or not.
func contents(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skip(err)
	}
	if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if text, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// BenchmarkRun replays a log, with and without the account of fairness.
func BenchmarkRun(b *testing.B) {
	for _, trace := range []string{"kth-sp2", "cea-curie"} {
		for _, how := range slices.Sorted(maps.Keys(backfills)) {
			for _, bare := range []bool{true, false} {
				b.Run(fmt.Sprintf("%s/%s/bare=%v", trace, how, bare), func(b *testing.B) {
					w := load(b, trace)
					b.ReportAllocs()
					for b.Loop() {
						if _, err := sim.Run(w, sim.Options{Config: fifo(backfills[how]), Bare: bare}); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(len(w.Jobs)*b.N)/b.Elapsed().Seconds(), "jobs/s")
				})
			}
		}
	}
}
