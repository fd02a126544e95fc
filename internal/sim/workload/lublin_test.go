package workload

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"
)

// model returns a workload of some types of jobs on a machine.
func model(t *testing.T, types Types, procs, n int) []Job {
	t.Helper()
	jobs, err := Lublin{Procs: procs, Jobs: n, Seed: 1, Types: types, Users: 50, Zipf: 1}.Make()
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// near fails if a figure differs from the expected one by more than "most".
func near(t *testing.T, what string, got, want, most float64) {
	t.Helper()
	if math.Abs(got-want) > most {
		t.Errorf("%s: got %.4f, want %.4f within %.4f", what, got, want, most)
	}
}

// mean returns the mean of f over the jobs for which f returns true.
func mean(jobs []Job, f func(Job) (float64, bool)) float64 {
	sum, n := 0.0, 0
	for _, j := range jobs {
		if x, ok := f(j); ok {
			sum, n = sum+x, n+1
		}
	}
	return sum / float64(n)
}

func share(jobs []Job, f func(Job) bool) float64 {
	return mean(jobs, func(j Job) (float64, bool) {
		if f(j) {
			return 1, true
		}
		return 0, true
	})
}

func isSerial(j Job) bool { return j.Procs == 1 }
func isPower(j Job) bool  { return j.Procs > 1 && bits.OnesCount(uint(j.Procs)) == 1 }

func logSize(j Job) (float64, bool) { return math.Log2(float64(j.Procs)), j.Procs > 1 }

// logRun takes the middle of the second, because run times are cut down to whole seconds.
func logRun(j Job) (float64, bool) { return math.Log(float64(j.Run) + 0.5), true }

var kinds = map[Types]kind{Batch: batchKind, Interactive: interactiveKind, Whole: wholeKind}

// TestSizesAreAsPublished checks the fractions of serial jobs and of powers of two, which some other jobs are
// by chance, and the mean logarithm of the sizes, which is (prob·low + med + (1-prob)·hi) / 2.
func TestSizesAreAsPublished(t *testing.T) {
	for types, k := range kinds {
		jobs := model(t, types, 128, 50_000)
		near(t, string(types)+": serial", share(jobs, isSerial), k.serial, 0.01)
		powers := share(jobs, isPower)
		if powers < k.pow2-0.01 || powers > k.pow2+0.09 {
			t.Errorf("%s: powers of two: got %.4f, want little more than %.4f", types, powers, k.pow2)
		}
		want := (k.first*k.low + (7 + k.med) + (1-k.first)*(7+k.hi)) / 2
		near(t, string(types)+": log2 of the size", mean(jobs, logSize), want, 0.08)
		if largest := slices.MaxFunc(jobs, func(a, b Job) int { return a.Procs - b.Procs }).Procs; largest > 128 {
			t.Errorf("%s: a job of %d processors on a machine of 128", types, largest)
		}
	}
}

// TestSizesFollowTheMachine checks that no job is larger than the machine, and that a larger machine has
// larger jobs.
func TestSizesFollowTheMachine(t *testing.T) {
	last := -1.0
	for _, procs := range []int{1, 2, 3, 5, 8, 100, 128, 1000, 4096} {
		jobs := model(t, Both, procs, 5000)
		for _, j := range jobs {
			if j.Procs < 1 || j.Procs > procs {
				t.Fatalf("a job of %d processors on a machine of %d", j.Procs, procs)
			}
		}
		now := mean(jobs, func(j Job) (float64, bool) { return math.Log2(float64(j.Procs)), true })
		if now < last {
			t.Errorf("on %d processors the mean log2 of the size is %.2f, on the smaller one before %.2f", procs, now, last)
		}
		last = now
	}
}

// TestRunTimesAreAsPublished checks that the mean logarithm of the run time of jobs of one size is p·a1·b1 +
// (1-p)·a2·b2 with p = pa·size + pb.
func TestRunTimesAreAsPublished(t *testing.T) {
	for types, k := range kinds {
		jobs := model(t, types, 128, 100_000)
		for _, size := range []int{1, 8} {
			p := k.pa*float64(size) + k.pb
			want := p*k.short.alpha*k.short.scale + (1-p)*k.long.alpha*k.long.scale
			got := mean(jobs, func(j Job) (float64, bool) {
				x, _ := logRun(j)
				return x, j.Procs == size
			})
			// Whole seconds and the cut at two days lower the mean a little.
			near(t, fmt.Sprintf("%s: ln of the run time at size %d", types, size), got, want, 0.15)
		}
		small := mean(jobs, func(j Job) (float64, bool) { return float64(j.Run), j.Procs <= 2 })
		large := mean(jobs, func(j Job) (float64, bool) { return float64(j.Run), j.Procs >= 16 })
		if large <= small {
			t.Errorf("%s: large jobs run %.0f s, small ones %.0f s; the larger should run longer", types, large, small)
		}
		if longest := slices.MaxFunc(jobs, func(a,
			b Job) int {
			return int(a.Run - b.Run)
		}).Run; float64(longest) > math.Exp(longestRun) {
			t.Errorf("%s: a job of %d s", types, longest)
		}
	}
}

// TestJobsFollowTheDay checks that the fraction of the jobs in each third of the day follows the gamma
// distribution, and that few jobs arrive before dawn.
func TestJobsFollowTheDay(t *testing.T) {
	for types, k := range kinds {
		jobs := model(t, types, 128, 50_000)
		var got [24]float64
		for _, j := range jobs {
			got[j.Submit/3600%24] += 1 / float64(len(jobs))
		}
		day := newDay(k.cycle)
		for part := range 3 {
			var want, have float64
			for h := part * 8; h < part*8+8; h++ {
				want += (day.rate[2*h] + day.rate[2*h+1]) / slots
				have += got[h]
			}
			near(t, fmt.Sprintf("%s: submitted in hours %d to %d", types, part*8, part*8+7), have, want, 0.02)
		}
		busy := slices.Index(got[:], slices.Max(got[:]))
		if busy < 10 || busy > 17 || got[4] > got[14]/4 {
			t.Errorf("%s: busiest at %d h; at 4 h %.3f of the jobs, at 14 h %.3f", types, busy, got[4], got[14])
		}
	}
}

// TestClock checks that the clock leaves whole days unchanged and never goes back.
func TestClock(t *testing.T) {
	d := newDay(batchKind.cycle)
	for days := range 4 {
		near(t, "a whole number of days", d.clock(float64(days*86400)), float64(days*86400), 1e-6)
	}
	last := 0.0
	for even := 0.0; even < 3*86400; even += 97 {
		at := d.clock(even)
		if at < last {
			t.Fatalf("%v is at %v, before %v", even, at, last)
		}
		last = at
	}
}

// TestLoadIsAsWanted checks that the gaps are stretched until the load is as requested, and that the jobs
// themselves do not change.
func TestLoadIsAsWanted(t *testing.T) {
	l := Lublin{Procs: 256, Jobs: 5000, Seed: 7, Types: Both, Users: 10, Zipf: 1}
	plain, err := l.Make()
	if err != nil {
		t.Fatal(err)
	}
	for _, load := range []float64{0.2, 0.7, 1.3} {
		l.Load = load
		jobs, err := l.Make()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "load", Area(jobs)/(256*float64(jobs[len(jobs)-1].Submit)), load, 1e-4)
		if Area(jobs) != Area(plain) {
			t.Errorf("at load %v the jobs are others than without", load)
		}
		night := share(jobs, func(j Job) bool { return j.Submit/3600%24 < 6 })
		if night > 0.17 {
			t.Errorf("at load %v a part of %.3f comes before 6 h: the day lost its shape", load, night)
		}
	}
}

func TestSameSeedSameJobs(t *testing.T) {
	l := Lublin{Procs: 64, Jobs: 500, Seed: 3, Types: Both, Users: 10, Zipf: 1}
	a, _ := l.Make()
	b, _ := l.Make()
	if !slices.Equal(a, b) {
		t.Error("the same options make different jobs")
	}
	l.Seed = 4
	if c, _ := l.Make(); slices.Equal(a, c) {
		t.Error("another seed makes the same jobs")
	}
	l.Seed, l.Users, l.Estimates.Exact = 3, 99, true
	other, _ := l.Make()
	for i := range a {
		if a[i].Submit != other[i].Submit || a[i].Run != other[i].Run || a[i].Procs != other[i].Procs {
			t.Fatalf("other users change job %d: %+v, before %+v", i, other[i], a[i])
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := Lublin{Procs: 8, Jobs: 1, Types: Both, Users: 1}
	for what, change := range map[string]func(*Lublin){
		"processor": func(l *Lublin) { l.Procs = 0 },
		"from 0 to": func(l *Lublin) { l.Jobs = -1 },
		"whole":     func(l *Lublin) { l.Types = "none" },
		"load":      func(l *Lublin) { l.Load = math.NaN() },
		"user":      func(l *Lublin) { l.Users = 0 },
		"exponent":  func(l *Lublin) { l.Zipf = -1 },
		"factor":    func(l *Lublin) { l.Estimates.Factor = 0.5 },
	} {
		l := good
		change(&l)
		if _, err := l.Make(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// TestAgainstTheAuthorsSample compares with jobs that the authors' own program made, for 256 processors and
// all types as one.
func TestAgainstTheAuthorsSample(t *testing.T) {
	theirs := sample(t, "../../../../shared/traces/lublin-256.swf.gz")
	ours := model(t, Whole, 256, 50_000)
	near(t, "serial", share(ours, isSerial), share(theirs, isSerial), 0.015)
	near(t, "powers of two", share(ours, isPower), share(theirs, isPower), 0.015)
	near(t, "log2 of the size", mean(ours, logSize), mean(theirs, logSize), 0.06)
	near(t, "ln of the run time", mean(ours, logRun), mean(theirs, logRun), 0.08)
	run := func(j Job) (float64, bool) { return float64(j.Run), true }
	near(t, "run time", mean(ours, run)/mean(theirs, run), 1, 0.06)
}

func sample(t *testing.T, path string) (jobs []Job) {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not there: it belongs to the Parallel Workloads Archive", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		var id, wait int64
		var j Job
		if n, _ := fmt.Sscan(lines.Text(), &id, &j.Submit, &wait, &j.Run, &j.Procs); n == 5 {
			jobs = append(jobs, j)
		}
	}
	return jobs
}
