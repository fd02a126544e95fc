package explain

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// TestCancellingReason: of one task and of several it is a sentence.
func TestCancellingReason(t *testing.T) {
	for running, want := range map[int]string{1: "; 1 task of it is being ended on n1",
		2: "; 2 tasks of it are being ended on n1"} {
		j := &queue.Job{Running: running, Cause: "enough"}
		if got := CancellingReason(j, []queue.Task{{State: queue.Running, Holder: "n1"}}).Text; !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// TestStoppedTasksAreSaidToBe: a job whose tasks are being stopped, to wait again, is not said to run on.
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
