package swf_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/sim/swf"
)

const small = `; Version: 2.2
; MaxNodes: 4
; MaxProcs: 8
; UnixStartTime: 1000000
1 0 -1 50 4 12.5 -1 4 60 -1 1 7 3 -1 1 -1 -1 -1

  2	10 -1 5 2 -1 -1 -1 -1 -1 1 8 3 -1 1 -1 1 30
; MaxProcs: 16
`

func read(t *testing.T, text string) *swf.Trace {
	t.Helper()
	trace, err := swf.Read("t.swf", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestRead(t *testing.T) {
	trace := read(t, small)
	if trace.Procs != 16 || trace.UnixStartTime != 1_000_000 || len(trace.Comments) != 5 {
		t.Errorf("header %+v", trace.Header)
	}
	want := []swf.Record{
		{Job: 1, Wait: -1, Run: 50, Used: 4, CPU: 12.5, Memory: -1, Requested: 4, Estimate: 60, ReqMemory: -1, Status: 1,
			User: 7, Group: 3, App: -1, Queue: 1, Partition: -1, After: -1, Think: -1},
		{Job: 2, Submit: 10, Wait: -1, Run: 5, Used: 2, CPU: -1, Memory: -1, Requested: -1, Estimate: -1, ReqMemory: -1,
			Status: 1, User: 8, Group: 3, App: -1, Queue: 1, Partition: -1, After: 1, Think: 30},
	}
	if !slices.Equal(trace.Records, want) {
		t.Errorf("got %+v", trace.Records)
	}
}

func TestMaxNodesServesWithoutMaxProcs(t *testing.T) {
	if got := read(t, "; MaxNodes: 12 (of two kinds)\n").Procs; got != 12 {
		t.Errorf("got %d", got)
	}
	if got := read(t, "; maxprocs : 7\n; MaxNodes: 12\n").Procs; got != 7 {
		t.Errorf("got %d", got)
	}
}

func TestReadGzip(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(small))
	z.Close()
	trace, err := swf.Read("t", bytes.NewReader(packed.Bytes()))
	if err != nil || len(trace.Records) != 2 {
		t.Fatalf("%v, %+v", err, trace)
	}
	_, err = swf.Read("t", bytes.NewReader(packed.Bytes()[:packed.Len()-9]))
	if err == nil || !strings.Contains(err.Error(), "t: unexpected EOF: the file is damaged or incomplete") {
		t.Errorf("half a file: %v", err)
	}
}

func TestWriteIsReadAgain(t *testing.T) {
	trace := read(t, small)
	var text bytes.Buffer
	if err := swf.Write(&text, []string{"MaxProcs: 16", "Note: a\nb"}, trace.Records); err != nil {
		t.Fatal(err)
	}
	again := read(t, text.String())
	if !slices.Equal(again.Records, trace.Records) ||
		!slices.Equal(again.Comments, []string{"MaxProcs: 16", "Note: a b"}) {
		t.Errorf("got %+v of\n%s", again, text.String())
	}
}

func TestReadErrors(t *testing.T) {
	good := "1 0 -1 50 4 -1 -1 4 60 -1 1 7 3 -1 1 -1 -1 -1\n"
	for _, x := range []struct{ text, want string }{
		{good + "2 0 -1 5o 4", `t.swf:2:8: "5o" is not a number: expected field 4, the run time; write -1 if it is not known`},
		{good + "2 0 -1\n", "t.swf:2:8: the line ends after 3 of 18 fields; the next is the run time: write -1 for an unknown value"},
		{"; c\n1 0 -1 50 NaN", `t.swf:2:11: "NaN" is not a number`},
		{"1 0 -1 50 1e10 x", "t.swf:1:11: the processors (field 5) is 1e10, beyond the largest that can be simulated, 2147483647"},
		{"1 0 -1 Inf 1", "t.swf:1:8: the run time (field 4) is Inf, beyond"},
		{"1 0 -1 5000000000 1", "t.swf:1:8: the run time (field 4) is 5000000000, beyond"},
		{"1 0 -1 -99999999999999999999 1", "t.swf:1:8: the run time (field 4) is -99999999999999999999, beyond"},
		{strings.Repeat("x", 70000), "t.swf:1:1: the line is longer than 65536 bytes"},
	} {
		if _, err := swf.Read("t.swf", strings.NewReader(x.text)); err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%.40q: %v, want %s", x.text, err, x.want)
		}
	}
}

// line returns the line of a job of user 1 that was submitted at 0.
func line(run, used, requested, estimate, status string) string {
	return strings.Join([]string{"1 0 -1", run, used, "-1 -1", requested, estimate, "-1", status, "1 1 -1 1 -1 -1 -1\n"},
		" ")
}

// TestOddLines has a case for each kind of odd line: the job that results, and the report.
func TestOddLines(t *testing.T) {
	for _, x := range []struct {
		name, text    string
		extend, clip  bool
		run, estimate int64
		procs         int32 // 0: left out
		says          string
	}{
		{name: "plain", text: line("50", "4", "4", "60", "1"), run: 50, estimate: 60, procs: 4,
			says: "1 job on 8 processors; nothing left out or changed"},
		{name: "requested counts", text: line("50", "4", "6", "60", "0"), run: 50, estimate: 60, procs: 6,
			says: "nothing left out or changed"},
		{name: "used serves", text: line("50", "4", "-1", "60", "1"), run: 50, estimate: 60, procs: 4,
			says: "nothing left out or changed"},
		{name: "overrun", text: line("70", "4", "4", "60", "1"), run: 60, estimate: 60, procs: 4,
			says: "changed: 1 run times cut to the estimate (--overrun extend keeps them)"},
		{name: "overrun extends", text: line("70", "4", "4", "60", "1"), extend: true, run: 70, estimate: 70, procs: 4,
			says: "changed: 1 estimates extended"},
		{name: "no estimate", text: line("70", "4", "4", "-1", "1"), run: 70, estimate: 70, procs: 4,
			says: "changed: 1 without an estimate"},
		{name: "instant", text: line("0", "4", "4", "60", "1"), run: 0, estimate: 60, procs: 4,
			says: "changed: 1 jobs with a run time of 0"},
		{name: "no run time", text: line("-1", "4", "4", "60", "1"),
			says: "0 jobs on 8 processors; left out 1 line: 1 without a run time"},
		{name: "cancelled", text: line("0", "4", "4", "60", "5"), says: "1 cancelled before they ran"},
		{name: "cancelled late", text: line("9", "4", "4", "60", "5"), run: 9, estimate: 60, procs: 4,
			says: "nothing left out"},
		{name: "no processors", text: line("9", "-1", "0", "60", "1"), says: "1 without a number of processors"},
		{name: "part", text: line("9", "1", "1", "60", "3"), says: "1 parts of jobs"},
		{name: "too large", text: line("9", "9", "9", "60", "1"), says: "1 asking for more processors than there are"},
		{name: "clipped", text: line("9", "9", "9", "60", "1"), clip: true, run: 9, estimate: 60, procs: 8,
			says: "changed: 1 jobs clipped to the machine"},
		{name: "fractions", text: line("9.4", "2.0", "3", "59.5", "1"), run: 9, estimate: 60, procs: 3,
			says: "changed: 2 numbers with fractions rounded"},
		{name: "19 fields", text: strings.TrimSpace(line("9", "2", "3", "60", "1")) + " 4", run: 9, estimate: 60, procs: 3,
			says: "changed: 1 lines with more than 18 fields cut"},
		{name: "no submission", text: "1 -1" + line("9", "2", "3", "60", "1")[3:], says: "1 without a submit time"},
	} {
		jobs, report, err := read(t, x.text).Jobs(swf.Rules{Procs: 8, Extend: x.extend, Clip: x.clip})
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if got := report.String(); !strings.Contains(got, x.says) || strings.Contains(got, "\n") {
			t.Errorf("%s: says %s, want %s", x.name, got, x.says)
		}
		switch {
		case x.procs == 0 && len(jobs) == 0 && report.LeftOut() == 1:
		case len(jobs) != 1 || jobs[0] != swf.Job{ID: 1, Run: x.run, Estimate: x.estimate, Procs: x.procs,
			NoEstimate: report.NoEstimate > 0}:
			t.Errorf("%s: got %+v", x.name, jobs)
		}
	}
}

func ptr(n int64) *int64 { return &n }

func TestOrderWindowAndLoad(t *testing.T) {
	text := ""
	for _, submit := range []string{"4 100", "9 40", "3 40", "5 130", "1 0"} {
		text += submit + line("9", "2", "3", "60", "1")[3:]
	}
	jobs, report, err := read(t, text).Jobs(swf.Rules{Procs: 4, From: ptr(40), To: ptr(130), ScaleLoad: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]int64
	for _, j := range jobs {
		got = append(got, [2]int64{j.ID, j.Submit})
	}
	if want := [][2]int64{{3, 40}, {9, 40}, {4, 70}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	want := "3 jobs on 4 processors; left out 2 lines: 2 submitted outside the window; changed: lines put in order of submission, load scaled by 2"
	if report.String() != want {
		t.Errorf("says %s\nwant %s", report.String(), want)
	}
}

func TestJobsErrors(t *testing.T) {
	trace := read(t, line("9", "2", "3", "60", "1"))
	if _, _, err := trace.Jobs(swf.Rules{}); err == nil ||
		err.Error() != "t.swf: the trace does not say how many processors the machine has (; MaxProcs: N)" {
		t.Error(err)
	}
	if _, _, err := trace.Jobs(swf.Rules{Procs: 1, ScaleLoad: -1}); err == nil ||
		!strings.Contains(err.Error(), "expected a number above 0") {
		t.Error(err)
	}
}

// traces is the folder of real logs; the tests use it if it exists.
const traces = "../../../../shared/traces"

// TestRealTraces reads all of them without an error.
func TestRealTraces(t *testing.T) {
	files, _ := filepath.Glob(traces + "/*.swf.gz")
	if len(files) == 0 {
		t.Skip("no traces in " + traces)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || testing.Short() && info.Size() > 1<<20 {
			continue
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		trace, err := swf.Read(file, f)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, report, err := trace.Jobs(swf.Rules{}); err != nil {
			t.Error(err)
		} else {
			t.Log(filepath.Base(file), report.String())
		}
	}
}

// FuzzRead checks that any text is read, or refused with a position; that a trace that was read can be
// written and read again unchanged; and that its jobs keep the promises of Job.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small), 8, 1.0)
	f.Add([]byte(line("70.5", "4", "400", "60", "1")+line("0", "0", "-3", "1e3", "5")), 3, 0.5)
	f.Add([]byte("\x1f\x8b\x08\x00"), 1, 2.0)
	f.Fuzz(func(t *testing.T, text []byte, procs int, load float64) {
		trace, err := swf.Read("f", bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := swf.Write(&again, nil, trace.Records); err != nil {
			t.Fatal(err)
		}
		if copied, err := swf.Read("f", &again); err != nil || !slices.Equal(copied.Records, trace.Records) {
			t.Fatalf("written and read again: %v", err)
		}
		jobs, report, err := trace.Jobs(swf.Rules{Procs: procs, Clip: procs%2 == 0, Extend: procs%3 == 0, ScaleLoad: load})
		if err != nil {
			return
		}
		left := report.Outside + report.Parts + report.Cancelled + report.NoSubmit + report.NoRun + report.NoProcs +
			report.TooLarge
		if len(jobs) != report.Jobs || left != report.LeftOut() {
			t.Fatalf("%d jobs, %+v", len(jobs), report)
		}
		for i, j := range jobs {
			if j.Submit < 0 || j.Run < 0 || j.Estimate < j.Run || j.Procs < 1 || int(j.Procs) > report.Procs {
				t.Fatalf("%+v", j)
			}
			if i > 0 && (j.Submit < jobs[i-1].Submit || report.ScaleLoad == 1 && j.Submit == jobs[i-1].Submit &&
				j.ID < jobs[i-1].ID) {
				t.Fatalf("%+v after %+v", j, jobs[i-1])
			}
		}
	})
}

// BenchmarkRead reads the largest log.
func BenchmarkRead(b *testing.B) {
	text, err := os.ReadFile(traces + "/cea-curie.swf.gz")
	if err != nil {
		b.Skip("no traces in " + traces)
	}
	b.ReportAllocs()
	for b.Loop() {
		trace, err := swf.Read("cea-curie", bytes.NewReader(text))
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := trace.Jobs(swf.Rules{}); err != nil {
			b.Fatal(err)
		}
	}
}
