package explain

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// TestCancellingReason: the reason is a sentence for one task and for several.
func TestCancellingReason(t *testing.T) {
	for running, want := range map[int]string{1: "; 1 task of it is being ended on n1",
		2: "; 2 tasks of it are being ended on n1"} {
		j := &queue.Job{Running: running, Cause: "enough"}
		if got := CancellingReason(j, []queue.Task{{State: queue.Running, Holder: "n1"}}).Text; !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// TestCanceledTasksAreCounted: a job continues to run after its waiting tasks were canceled. Its reason says how many
// these are, and who canceled them.
func TestCanceledTasksAreCounted(t *testing.T) {
	j := &queue.Job{Tasks: 6, Running: 2, Cancelled: 4, Cause: "by ann"}
	tasks := []queue.Task{{State: queue.Running, Holder: "n1"}}
	for _, got := range []string{RunningReason(j, tasks).Text, QueuedReason(j, tasks).Text} {
		if !strings.HasSuffix(got, "; 4 of its 6 tasks were canceled (by ann)") {
			t.Error(got)
		}
	}
	j.Failed, j.Cause = 1, "exit status 1"
	if got := RunningReason(j, tasks).Text; !strings.HasSuffix(got, "; 4 of its 6 tasks were canceled") {
		t.Error(got)
	}
}

// TestStoppedTasksAreSaidToBe: a job whose tasks are being stopped, to wait again, is not said to continue running.
func TestStoppedTasksAreSaidToBe(t *testing.T) {
	one, two := queue.Task{State: queue.Running, Holder: "n1", Requeue: true}, queue.Task{State: queue.Running,
		Holder: "n1", Stopped: true}
	for _, c := range []struct {
		tasks      []queue.Task
		text, next string
	}{
		{[]queue.Task{one}, "; 1 task of it is being stopped, and then waits again", "wait; if"},
		{[]queue.Task{one, two}, "; 2 tasks of it are being stopped, and then wait again", "wait; if"},
		{[]queue.Task{one, {State: queue.Running, Holder: "n1"}}, "; 1 task of it is", "fairlead logs -f 7"},
	} {
		got := RunningReason(&queue.Job{ID: 7, Running: len(c.tasks)}, c.tasks)
		if !strings.Contains(got.Text, c.text) || !strings.HasPrefix(got.Next, c.next) {
			t.Errorf("%q and %q lack %q and %q", got.Text, got.Next, c.text, c.next)
		}
	}
}

// TestTimeLeft: the answer about a running job says how much time is left until its first running task reaches the time
// limit.
func TestTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		j := queue.Job{ID: 7, Tasks: 3, State: queue.Running, Limit: time.Hour, Started: now.Add(-50 * time.Minute)}
		tasks := []queue.Task{
			{State: queue.Succeeded, Started: now.Add(-50 * time.Minute)},
			{State: queue.Running, Started: now.Add(-20 * time.Minute), Holder: "n1"},
			{State: queue.Running, Started: now.Add(-10 * time.Minute), Holder: "n2"},
		}
		if text := RunningReason(&j, tasks).Text; !strings.HasSuffix(text, "; 40m of its time limit of 1h left") {
			t.Error(text)
		}
		if j.Limit = 0; strings.Contains(RunningReason(&j, tasks).Text, "left") {
			t.Error("a job without a time limit:", RunningReason(&j, tasks).Text)
		}
	})
}
