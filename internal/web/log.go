package web

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// logPage shows the end of the output of a task.
var logPage = &Page{Name: "log", Of: "queue", Path: "jobs/{id}/log", Parts: []string{"output"}, Seen: ByUser,
	Every: 2 * time.Second, Load: loadLog}

// Log is the data of the page.
type Log struct {
	*api.LogChunk
	Job     *api.JobResponse
	Task    int
	Stderr  bool
	Problem string // the reason if there is no output
}

// logTail is the length of the shown end, in bytes.
const logTail = 32 << 10

// logWait bounds the time of an agent to send it.
const logWait = 2 * time.Second

// Name returns the number of the shown task, as its job counts; "" if the job has one task.
func (l *Log) Name() string {
	if l.Job.Job.Tasks < 2 {
		return ""
	}
	for i := range l.Job.Tasks {
		if t := &l.Job.Tasks[i]; l.Task < 0 || t.Task == l.Task { // without a number, the server shows the first task
			return strconv.Itoa(t.Number)
		}
	}
	return ""
}

func loadLog(ctx context.Context, src Source, r *Request) (any, error) {
	id, err := strconv.ParseInt(r.ID, 10, 64)
	if err != nil {
		return nil, missing("there is no job %.40q; see fairlead queue --all", r.ID)
	}
	l := &Log{Task: -1, Stderr: r.Query.Has("stderr")}
	if n, err := strconv.Atoi(r.Word("task")); err == nil && n >= 0 {
		l.Task = n
	}
	if l.Job, err = src.Jobs.Job(ctx, id); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, logWait)
	defer cancel()
	l.LogChunk, err = src.Jobs.Log(ctx, id, l.Task, l.Stderr, -logTail, logTail)
	switch {
	case errors.Is(err, queue.ErrForbidden):
		return nil, err
	case err != nil: // not available yet, not available here, or gone
		l.LogChunk, l.Problem = &api.LogChunk{}, api.FromError(err).Detail
	case l.Later != "":
		l.Problem = l.Later
	}
	return l, nil
}
