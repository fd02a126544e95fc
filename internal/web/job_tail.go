package web

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// tail is the end of the output of a failed task.
type tail struct {
	// Task is the task that failed last, nil for a job that did not fail.
	Task *api.Task
	// Lines are the last lines of its output, and Problem is the reason if there are none.
	Lines   string
	Problem string
}

// The length of the shown end, in bytes and in lines, and the time of an agent to send it.
const (
	tailBytes = 4 << 10
	tailLines = 15
	tailWait  = time.Second
)

// tailOf reads the end of the output of a job that failed, if the user may read it.
func tailOf(ctx context.Context, src Source, j *api.JobResponse, may bool, you *You) tail {
	if j.Job.State != string(queue.Failed) {
		return tail{}
	}
	if j.Job.LastEnd == nil || j.Job.LastEnd.State != string(queue.Failed) {
		return tail{}
	}
	t := tail{Task: j.Job.LastEnd}
	if !may {
		t.Problem = "only its user and administrators may read its output"
		if you.OnlyLooks {
			t.Problem = "this session is read-only; to read output, sign in with: fairlead dashboard --admin"
		}
		return t
	}
	ctx, cancel := context.WithTimeout(ctx, tailWait)
	defer cancel()
	chunk, err := src.Jobs.Log(ctx, j.Job.ID, t.Task.Task, false, -tailBytes, tailBytes)
	switch {
	case err != nil:
		t.Problem = api.FromError(err).Detail
	case chunk.Later != "":
		t.Problem = chunk.Later
	default:
		lines := strings.Split(strings.TrimRight(string(chunk.Data), "\n"), "\n")
		t.Lines = strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
	}
	return t
}
