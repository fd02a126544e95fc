package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

// fake is a Slurm that gives the answers that a test wants.
type fake struct {
	queued, kept []record
	accountErr   error
	behind       int
	conf         config
	as, level    string
	silent       bool  // it does not answer about partitions and accounts
	answer       error // to a submission
	sent         []string
	cancelled    []string
}

func (f *fake) submit(_ context.Context, r *request) (string, error) {
	f.sent = append(f.sent, r.name)
	return fmt.Sprint(len(f.sent)), f.answer
}
func (f *fake) queue(context.Context, []string) ([]record, error) { return f.queued, nil }
func (f *fake) accounting(_ context.Context, ids, names []string, _ time.Time) ([]record, error) {
	var all []record
	for _, r := range f.kept {
		if slices.Contains(ids, r.id) || slices.Contains(names, r.name) {
			all = append(all, r)
		}
	}
	return all, f.accountErr
}
func (f *fake) cancel(_ context.Context, ids []string) error {
	f.cancelled = append(f.cancelled, ids...)
	return nil
}
func (f *fake) backlog(context.Context) (int, error)           { return f.behind, nil }
func (f *fake) configuration(context.Context) (*config, error) { return &f.conf, nil }
func (f *fake) rank(context.Context) (string, error)           { return f.level, nil }
func (f *fake) has(_ context.Context, what, name string) (bool, error) {
	if f.silent {
		return false, errors.New("it does not answer")
	}
	return name == "some-"+what, nil
}
func (f *fake) runsAs() string { return f.as }
func (f *fake) close()         {}

func with(t *testing.T, f *fake) *QS {
	t.Helper()
	q, err := Open(Options{AllowRoot: true})
	if err != nil {
		t.Fatal(err)
	}
	q.door = f
	return q
}

// TestPhases checks how Look combines the answers of slurmctld and slurmdbd about one entry, m, of job 7.
func TestPhases(t *testing.T) {
	now := time.Now()
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	live := func(state string, began, ended int) record {
		return record{id: "7", name: "m", state: state, submitted: at(-400), began: at(began), ended: at(ended)}
	}
	kept := func(state string, began, ended int) record {
		r := live(state, began, ended)
		r.measured = true
		return r
	}
	nameless := kept("COMPLETED", -20, -1)
	nameless.name = "" // slurmdbd learns the name last
	other := live("RUNNING", -20, 0)
	other.name = "somebody-else"
	down := errors.New("no connection")
	over := []record{live("COMPLETED", -20, -1)}
	for _, test := range []struct {
		name  string
		slurm fake
		age   int // of the submission, in seconds
		id    string
		want  bridge.Phase
	}{
		{"waits", fake{queued: []record{live("PENDING", 0, 0)}}, 400, "7", bridge.Pending},
		{"runs", fake{queued: []record{live("RUNNING", -20, 0)}}, 400, "7", bridge.Running},
		{"ends", fake{queued: []record{live("COMPLETING", -20, 0)}}, 400, "7", bridge.Running},
		{"its accounting follows", fake{queued: over}, 400, "7", bridge.Running},
		{"its accounting does not come", fake{queued: []record{live("COMPLETED", -90, -60)}}, 400, "7", bridge.Succeeded},
		{
			"its accounting has it as running", fake{queued: over, kept: []record{kept("RUNNING", -20, 0)}}, 400, "7",
			bridge.Running,
		},
		{
			"ended", fake{queued: []record{live("FAILED", -20, -1)}, kept: []record{kept("FAILED", -20, -1)}}, 400, "7",
			bridge.Failed,
		},
		{"ended without a name", fake{queued: over, kept: []record{nameless}}, 400, "7", bridge.Succeeded},
		{"accounting is down", fake{queued: over, accountErr: down}, 400, "7", bridge.Succeeded},
		{"long over", fake{kept: []record{kept("TIMEOUT", -300, -200)}}, 400, "7", bridge.Failed},
		{"long over, reply lost", fake{kept: []record{kept("COMPLETED", -300, -200)}}, 400, "", bridge.Succeeded},
		{
			"requeued by Slurm", fake{queued: []record{live("PENDING", 0, 0)}, kept: []record{kept("NODE_FAIL", -90, -60)}}, 400,
			"7", bridge.Pending,
		},
		{
			"requeued, and over again", fake{kept: []record{kept("NODE_FAIL", -90, -60), kept("COMPLETED", -50, -20)}}, 400, "7",
			bridge.Succeeded,
		},
		{"number given again", fake{queued: []record{other}}, 400, "7", bridge.Absent},
		{"just sent", fake{}, 5, "", bridge.Unsure},
		{"never came", fake{}, 25, "", bridge.Absent},
		{"never came, accounting is down", fake{accountErr: down}, 25, "", bridge.Absent},
		{"long ago, accounting is down", fake{accountErr: down}, 400, "", bridge.Unsure},
		{"long ago, accounting is behind", fake{behind: 3}, 400, "", bridge.Unsure},
		{"long ago, never came", fake{}, 400, "", bridge.Absent},
		{"lost by slurmctld", fake{kept: []record{kept("RUNNING", -90, 0)}}, 400, "7", bridge.Absent},
	} {
		test.slurm.conf = config{"MessageTimeout": "10 sec", "MinJobAge": "300 sec"}
		got, err := with(t, &test.slurm).Look(t.Context(), []bridge.Entry{
			{Marker: "m", ID: test.id, Submitted: at(-test.age)},
		})
		if err != nil || got[0].Phase != test.want {
			t.Errorf("%s: got %+v, %v, want phase %d", test.name, got, err, test.want)
		}
	}
}

// TestStates checks how Slurm's states become phases of a bridge.
func TestStates(t *testing.T) {
	began, ended := time.Unix(1000, 0), time.Unix(1010, 0)
	for _, test := range []struct {
		record record
		phase  bridge.Phase
		code   int
		text   string
	}{
		{record{state: "COMPLETED"}, bridge.Succeeded, 0, ""},
		{record{state: "FAILED", code: 3, reason: "NonZeroExitCode"}, bridge.Failed, 3, "exit code 3"},
		{record{state: "FAILED", signal: 9}, bridge.Failed, -1, "ended by signal 9"},
		{record{state: "FAILED", code: 1, reason: "BadConstraints"}, bridge.Failed, 1, "Slurm: FAILED (BadConstraints)"},
		{record{state: "TIMEOUT"}, bridge.Failed, -1, "Slurm: TIMEOUT: it ran into its time limit"},
		{record{state: "NODE_FAIL"}, bridge.Failed, -1, "Slurm: NODE_FAIL: a node of it failed"},
		{
			record{state: "OUT_OF_MEMORY", code: 125}, bridge.Failed, 125,
			"Slurm: OUT_OF_MEMORY: it used more memory than it had asked for",
		},
		{record{state: "PREEMPTED"}, bridge.Failed, -1, "Slurm: PREEMPTED: Slurm preempted it for another job"},
		{record{state: "CANCELLED"}, bridge.Cancelled, 0, ""},
		{record{state: "SOMETHING_NEW"}, bridge.Unsure, 0, ""},
	} {
		test.record.began, test.record.ended = began, ended
		got := test.record.status()
		if got.Phase != test.phase || got.ExitCode != test.code || got.Error != test.text {
			t.Errorf("%s: got %+v", test.record.state, got)
		}
	}
}

// TestUsed checks how a line of sacct about a job that has ended becomes its use.
func TestUsed(t *testing.T) {
	line := "12|m|CANCELLED by 1000|0:15|100|110|200|90|1-02:03:04.5|" +
		"billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,license/matlab=1,mem=2G,node=1|None"
	r := accounted(strings.Split(line, "|"))
	if r.state != "CANCELLED" || r.signal != 15 || r.reason != "" || !r.ended.Equal(time.Unix(200, 0)) {
		t.Errorf("got %+v", r)
	}
	got := fmt.Sprint(*r.status().Used)
	want := fmt.Sprint(frontback.Use{Seconds: 90, CPUSeconds: 93784.5, Processes: 4,
		Resources: map[string]float64{"cpu": 4, "gpu": 2, "gpu:a100": 2, "matlab": 1, "mem": 2 << 30, "node": 1}})
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for text, want := range map[string]time.Duration{
		"00:00.171": 171 * time.Millisecond, "02:03": 123 * time.Second, "": 0, "INVALID": 0,
		"1-00:00:01": 24*time.Hour + time.Second,
	} {
		if got := clock(text); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// TestCancel checks that Cancel ends only jobs that have our marker and are not over.
func TestCancel(t *testing.T) {
	f := &fake{
		queued: []record{
			{id: "7", name: "m", state: "PENDING"}, {id: "8", name: "other", state: "RUNNING"}, {
				id: "9", name: "n", state: "COMPLETED",
			},
		},
	}
	if err := with(t, f).Cancel(
		t.Context(), []bridge.Entry{{Marker: "m"}, {Marker: "n", ID: "9"}, {Marker: "o", ID: "8"}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.cancelled, []string{"7"}) {
		t.Errorf("cancelled %v", f.cancelled)
	}
}

// TestTwins checks that one of two jobs with the same marker is removed, unless both have started.
func TestTwins(t *testing.T) {
	for _, test := range []struct {
		states  string // of the jobs 9, 10 and 11
		keep    string
		removed []string
	}{
		{"PENDING PENDING", "9", []string{"10"}},
		{"PENDING RUNNING PENDING", "10", []string{"9", "11"}},
		{"RUNNING PENDING", "9", []string{"10"}},
		{"COMPLETED CANCELLED", "9", nil},
		{"PENDING", "9", nil},
	} {
		f := &fake{}
		for i, state := range strings.Fields(test.states) {
			f.queued = append(f.queued, record{id: fmt.Sprint(9 + i), name: "m", state: state})
		}
		slices.Reverse(f.queued)
		got, err := with(t, f).Look(t.Context(), []bridge.Entry{{Marker: "m", Submitted: time.Now()}})
		slices.SortFunc(f.cancelled, func(a, b string) int { return int(ordinal(a)) - int(ordinal(b)) })
		if err != nil || got[0].ID != test.keep || !slices.Equal(f.cancelled, test.removed) {
			t.Errorf("%s: keeps %q, cancels %v, %v", test.states, got[0].ID, f.cancelled, err)
		}
	}
}

// TestAnswers checks whether the messages of sbatch say that Slurm may have the job.
func TestAnswers(t *testing.T) {
	ended := errors.New("exit status 1")
	for _, test := range []struct {
		text string
		err  error
		want error
	}{
		{"sbatch: error: Batch job submission failed: Invalid partition name specified", ended, queue.ErrInvalid},
		{"sbatch: error: Invalid --time specification", ended, queue.ErrInvalid},
		{"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)", ended, errAway},
		{"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", ended, bridge.ErrUnsure},
		{"sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received", ended, bridge.ErrUnsure},
		{"", context.DeadlineExceeded, bridge.ErrUnsure},
		{"a message that nobody knows", ended, bridge.ErrUnsure},
		{
			"sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size " +
				"and/or time limits)", ended, nil,
		},
	} {
		got := judge(&failure{"sbatch", test.text, test.err})
		for _, sentinel := range []error{queue.ErrInvalid, errAway, bridge.ErrUnsure} {
			if errors.Is(got, sentinel) != (sentinel == test.want) {
				t.Errorf("%q is %v", test.text, got)
			}
		}
	}
}

// TestNobodyAnswers checks that the bridge does not send the jobs after one that did not arrive, so that they
// keep their order.
func TestNobodyAnswers(t *testing.T) {
	f := &fake{answer: errAway}
	q := with(t, f)
	job := &queue.Job{ID: 1, User: "root", Argv: []string{"true"}}
	got, err := q.Submit(t.Context(), []bridge.Submission{
		{Marker: "a", Priority: 1, Job: job}, {Marker: "b", Priority: 1, Job: job},
	})
	if err != nil || !errors.Is(got[0].Err, errAway) || !errors.Is(got[1].Err, errAway) ||
		errors.Is(got[1].Err, bridge.ErrUnsure) || len(f.sent) != 1 {
		t.Errorf("got %+v, %v after %v", got, err, f.sent)
	}
}
