package web

import (
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestOutputNamesItsTask: the page of an output names the task by the number that the job uses.
func TestOutputNamesItsTask(t *testing.T) {
	array := &api.JobResponse{Job: api.Job{Tasks: 3}, Tasks: []api.Task{{Task: 1, Number: 5}, {Task: 2, Number: 6}}}
	for _, c := range []struct {
		of   Log
		want string
	}{
		{Log{Job: array, Task: 2}, "6"}, {Log{Job: array, Task: -1}, "5"}, {Log{Job: array, Task: 0}, ""},
		{Log{Job: &api.JobResponse{Job: api.Job{Tasks: 1}, Tasks: []api.Task{{Task: 0}}}, Task: 0}, ""},
	} {
		if got := c.of.Name(); got != c.want {
			t.Errorf("task %d is called %q, want %q", c.of.Task, got, c.want)
		}
	}
}
