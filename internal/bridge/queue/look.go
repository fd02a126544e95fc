package queue

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
)

const (
	maxIDs  = 500      // in one request
	maxPage = 10_000   // jobs in one answer
	maxLog  = 64 << 10 // bytes of an output
)

// Look asks about jobs.
func (q *Queue) Look(ctx context.Context, all []bridge.Entry) ([]bridge.Status, error) {
	ids, err := q.ids(ctx, all)
	if err != nil {
		return nil, err
	}
	jobs := map[int64]*api.Job{}
	for rest := ids; len(rest) > 0; rest = rest[min(len(rest), maxIDs):] {
		v := url.Values{"limit": {strconv.Itoa(maxPage)}}
		for _, id := range rest[:min(len(rest), maxIDs)] {
			if id > 0 {
				v.Add("ids", strconv.FormatInt(id, 10))
			}
		}
		if len(v["ids"]) == 0 {
			continue
		}
		list, err := q.client.Jobs.List(ctx, v)
		if err != nil {
			return nil, q.explain(err)
		}
		for i := range list.Jobs {
			jobs[list.Jobs[i].ID] = &list.Jobs[i]
		}
	}
	out := make([]bridge.Status, len(all))
	for i, id := range ids {
		j := jobs[id]
		if j == nil {
			out[i].Phase = bridge.Absent
			continue
		}
		if out[i], err = q.status(ctx, j); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ids returns the numbers of entries. For entries without a number it looks for jobs, submitted since,
// whose key is the marker; 0 means that there is none.
func (q *Queue) ids(ctx context.Context, all []bridge.Entry) ([]int64, error) {
	ids := make([]int64, len(all))
	wanted := map[string]int{}
	var since time.Time
	for i, e := range all {
		if e.ID == "" {
			wanted[e.Marker] = i
			if since.IsZero() || e.Submitted.Before(since) {
				since = e.Submitted
			}
			continue
		}
		id, err := strconv.ParseInt(e.ID, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not the number of a job", e.ID)
		}
		ids[i] = id
	}
	if len(wanted) == 0 {
		return ids, nil
	}
	// The clock of the other server may be different.
	v := url.Values{
		"pool": {q.o.Pool}, "limit": {strconv.Itoa(maxPage)}, "since": {since.Add(-time.Hour).UTC().Format(time.RFC3339)},
	}
	for {
		list, err := q.client.Jobs.List(ctx, v)
		if err != nil {
			return nil, q.explain(err)
		}
		for _, j := range list.Jobs {
			if i, ok := wanted[j.Key]; ok {
				ids[i] = j.ID
			}
			v.Set("after", strconv.FormatInt(j.ID, 10))
		}
		if !list.More {
			return ids, nil
		}
	}
}

// phases maps the states of a job to the phases of an entry.
var phases = map[queue.State]bridge.Phase{
	queue.Held: bridge.Pending, queue.Blocked: bridge.Pending, queue.Waiting: bridge.Pending,
	queue.Running: bridge.Running, queue.Succeeded: bridge.Succeeded, queue.Failed: bridge.Failed,
	queue.Cancelled: bridge.Cancelled,
}

// status returns the status of a job.
func (q *Queue) status(ctx context.Context, j *api.Job) (bridge.Status, error) {
	state := queue.State(j.State)
	st := bridge.Status{
		Phase: phases[state], ID: strconv.FormatInt(j.ID, 10), Says: fmt.Sprintf("%s, priority %s", j.State, j.Priority),
	}
	if j.Started != nil {
		st.Began = *j.Started
	}
	if !state.Ended() {
		return st, nil
	}
	if j.Ended != nil {
		st.Ended = *j.Ended
	}
	st.Error = j.Cause
	whole, err := q.client.Jobs.Tasks(ctx, j.ID, -1, 1)
	if err != nil || len(whole.Tasks) == 0 {
		return st, err
	}
	t := whole.Tasks[0]
	st.ExitCode = t.ExitCode
	width := max(1, float64(j.Request["cpu"]))
	u := frontback.Use{
		Seconds: st.Ended.Sub(st.Began).Seconds(), CPUSeconds: t.CPUSeconds, Processes: width,
		Resources: map[string]float64{},
	}
	for name, n := range j.Request {
		u.Resources[name] = float64(n)
	}
	st.Used = &u
	st.Output, err = q.output(ctx, j.ID)
	return st, err
}

// output returns the output of a job, as far as its agent still has it.
func (q *Queue) output(ctx context.Context, id int64) (string, error) {
	chunk, err := q.client.Jobs.Log(ctx, id, url.Values{"limit": {strconv.Itoa(maxLog)}})
	if err != nil {
		if errors.Is(err, api.ErrUnreachable) || ctx.Err() != nil {
			return "", err
		}
		return "", nil
	}
	return string(chunk.Data), nil
}
