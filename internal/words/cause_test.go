package words_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/words"
)

// TestCause: jobs that failed in the same way have the same words, whatever the node and the numbers.
func TestCause(t *testing.T) {
	for _, c := range []struct {
		end  api.Task
		want string
	}{
		{api.Task{ExitCode: 3, Cause: "exit status 3"}, "exit 3"},
		{api.Task{Signal: "SIGKILL", Cause: "killed"}, "SIGKILL"},
		{api.Task{Signal: "SIGTERM", Cause: "time limit of 1m0s"}, "time limit"},
		{api.Task{ExitCode: -1, Cause: "could not be started: no directory /x"}, "could not be started"},
		{api.Task{Cause: "no image; see the manual"}, "no image"},
	} {
		if got := words.Cause(&api.Job{State: "failed", Attempts: api.Attempts{LastEnd: &c.end}}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.end, got, c.want)
		}
	}
	if got := words.Cause(&api.Job{State: "running"}); got != "" {
		t.Errorf("a running job: %q", got)
	}
}
