package mq_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/user"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/queue"
)

func submission() *bridge.Submission {
	return &bridge.Submission{
		Marker: "m-1", Priority: 3, Ref: queue.Ref{JobID: 17, Task: 2, Attempt: 4}, Number: 5,
		Job: &queue.Job{
			ID: 17, Name: "n", Kind: "k", User: "ann", Pool: "p", Argv: []string{"/bin/echo", "hi"},
			Env: map[string]string{"A": "b"}, Request: queue.Amounts{"cpu": 2}, Limit: time.Minute, Retries: 3, Tasks: 9,
			Key: "key",
		},
	}
}

// TestTaskAsSent checks the format, which is documented: readers in other languages rely on it.
func TestTaskAsSent(t *testing.T) {
	text, err := mq.NewTask(submission()).Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"fairlead":"task/1","marker":"m-1","job":17,"task":2,"attempt":4,"number":5,"tasks":9,"user":"ann",` +
		`"spec":{"name":"n","kind":"k","pool":"p",` +
		`"argv":["/bin/echo","hi"],"env":{"A":"b","FAIRLEAD_ATTEMPT":"4","FAIRLEAD_CPUS":"2",` +
		`"FAIRLEAD_JOB":"17","FAIRLEAD_MARKER":"m-1","FAIRLEAD_NAME":"n","FAIRLEAD_NUMBER":"5","FAIRLEAD_POOL":"p"},` +
		`"request":{"cpu":2},"limit_seconds":60}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	back, err := mq.ReadTask(text)
	if err != nil || !reflect.DeepEqual(back, mq.NewTask(submission())) {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

func TestMessagesThatAreNone(t *testing.T) {
	for _, text := range []string{
		"", "x", "{}", `{"fairlead":"task/2","marker":"m"}`, `{"fairlead":"task/1"}`,
		`{"fairlead":"report/1","marker":"m","state":"started"}`, `{"fairlead":7}`,
	} {
		if got, err := mq.ReadTask([]byte(text)); err == nil {
			t.Errorf("%s is read as the task %+v", text, got)
		}
	}
	for _, text := range []string{
		"", "x", "{}", `{"fairlead":"task/1","marker":"m"}`, `{"fairlead":"report/1","marker":"m","state":"over"}`,
	} {
		if got, err := mq.ReadReport([]byte(text)); err == nil {
			t.Errorf("%s is read as the report %+v", text, got)
		}
	}
}

// TestReportsFit checks that a report is cut to fit into its queue, and keeps its important facts.
func TestReportsFit(t *testing.T) {
	r := mq.Report{
		Marker: "m", State: "failed", ExitCode: 3, Output: strings.Repeat("\x01é", 10_000) + "the end",
		Error: strings.Repeat("\x02", 5000),
	}
	for _, limit := range []int{1 << 20, 60_000, 5000, 300} {
		text := r.Encode(limit)
		var back mq.Report
		if err := json.Unmarshal(text, &back); err != nil || len(text) > limit {
			t.Fatalf("limit %d: %d bytes, %v", limit, len(text), err)
		}
		if back.ExitCode != 3 || back.Marker != "m" || limit >= 5000 && !strings.HasSuffix(back.Output, "the end") {
			t.Errorf("limit %d: %.100s", limit, text)
		}
	}
}

// TestReports checks that the first end counts, whatever reports follow, until the marker is forgotten.
func TestReports(t *testing.T) {
	r := mq.NewReports()
	r.Hear(&mq.Report{Marker: "m", State: mq.Started, Worker: "w"}, 1)
	if r.Started("m") == nil || r.End("m") != nil {
		t.Error("it has started, and not ended")
	}
	<-r.Changed()
	r.Hear(&mq.Report{Marker: "m", State: "succeeded"}, 2)
	r.Hear(&mq.Report{Marker: "m", State: "failed"}, 3)
	r.Hear(&mq.Report{Marker: "m", State: mq.Started}, 4)
	if end := r.End("m"); end == nil || end.Status().Phase != bridge.Succeeded {
		t.Errorf("got %+v", end)
	}
	if tags := r.Forget("m"); !reflect.DeepEqual(tags, []uint64{1, 2, 3, 4}) {
		t.Errorf("tags %v", tags)
	}
	if r.Hear(&mq.Report{Marker: "m", State: "failed"}, 5) || r.End("m") != nil {
		t.Error("a report of what is forgotten is kept")
	}
	if !r.Hear(&mq.Report{Marker: "n", State: "failed"}, 6) {
		t.Error("a report of another marker is not kept")
	}
}

// TestWorker checks that a worker runs a command like an agent, and reports its end.
func TestWorker(t *testing.T) {
	m, err := agent.OpenMachine(agent.Options{Name: "w1", Dir: t.TempDir(), AnyUser: true, AllowRoot: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	w := &mq.Worker{Name: "w1", Machine: m}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, argv ...string) (mq.Report, error) {
		s := submission()
		s.Job.Argv, s.Job.User = argv, me.Username
		task := mq.NewTask(s)
		return w.Run(ctx, task, w.Start(task, "99"))
	}
	r, err := run(t.Context(), "/bin/sh", "-c", `echo "$A $FAIRLEAD_JOB $FAIRLEAD_MARKER"; exit 3`)
	if err != nil || r.State != "failed" || r.ExitCode != 3 || r.Output != "b 17 m-1\n" || r.ID != "99" ||
		r.Used.Seconds <= 0 || r.Ended.Before(r.Began) {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := run(t.Context(), "/nonexistent"); err != nil || r.State != "failed" || r.Error == "" {
		t.Errorf("got %+v, %v", r, err)
	}
	for cause, reported := range map[error]bool{mq.ErrCancelled: true, mq.ErrLost: false, mq.ErrLeaving: false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		r, err := run(ctx, "/bin/sleep", "600")
		if (err == nil) != reported || r.State != "cancelled" {
			t.Errorf("%v: got %+v, %v", cause, r, err)
		}
	}
	for i := range 3000 {
		w.Ended(mq.Report{Marker: fmt.Sprint(i)})
	}
	if _, old := w.End("1"); old {
		t.Error("ends are remembered forever")
	}
	if _, known := w.End("2999"); !known {
		t.Error("the last end is not known")
	}
}
