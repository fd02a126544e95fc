package account

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// archive is a store of past jobs.
type archive struct {
	jobs  []*queue.Job
	tasks map[int64][]queue.Task
}

func (a *archive) Jobs(_ context.Context, q queue.Query) ([]*queue.Job, error) {
	var out []*queue.Job
	for _, j := range a.jobs {
		if j.ID > q.After && len(out) < q.Limit {
			out = append(out, j)
		}
	}
	return out, nil
}

func (a *archive) Tasks(_ context.Context, id int64) ([]queue.Task, error) {
	return a.tasks[id], nil
}

func (a *archive) add(j queue.Job, tasks ...queue.Task) {
	j.ID = int64(len(a.jobs) + 1)
	for _, t := range tasks {
		if !t.Started.IsZero() {
			j.Started = t.Started
		}
	}
	a.jobs = append(a.jobs, &j)
	a.tasks[j.ID] = tasks
}

func day(month time.Month, d, hour int) time.Time {
	return time.Date(2026, month, d, hour, 0, 0, 0, time.UTC)
}

// TestRead compares with sums by hand: a run across the end of a month is divided, times outside the window do not
// count, and only the waits before first starts count.
func TestRead(t *testing.T) {
	a := &archive{tasks: map[int64][]queue.Task{}}
	cpu := queue.Amounts{"cpu": 4}
	ok := queue.Outcome{CPU: time.Hour}
	// It runs ten hours before midnight of the last day of March, and five after it.
	a.add(queue.Job{Pool: "physics/markov", User: "markov", Kind: "mpi", Request: cpu, Submitted: day(3, 31, 12)},
		queue.Task{Attempt: 1, State: queue.Succeeded, Started: day(3, 31, 14), Ended: day(4, 1, 5), Outcome: ok})
	// It began before the window, so its wait does not count.
	a.add(queue.Job{Pool: "physics/curie", User: "curie", Submitted: day(2, 27, 0)},
		queue.Task{Attempt: 1, State: queue.Failed, Started: day(2, 28, 23), Ended: day(3, 1, 3)})
	// Two tasks waited for one and three hours; the second one still runs. A third task waits.
	a.add(queue.Job{Pool: "biology", User: "julie", Submitted: day(4, 9, 0), Begin: day(4, 10, 0)},
		queue.Task{Attempt: 1, State: queue.Cancelled, Started: day(4, 10, 1), Ended: day(4, 10, 2)},
		queue.Task{Attempt: 1, State: queue.Running, Started: day(4, 10, 3)}, queue.Task{State: queue.Waiting})
	// The wait of a second attempt does not count.
	a.add(queue.Job{Pool: "biology", User: "julie", Submitted: day(4, 1, 0)},
		queue.Task{Attempt: 2, State: queue.Succeeded, Started: day(4, 5, 0), Ended: day(4, 5, 1)})
	ask := Ask{Since: day(3, 1, 0), Until: day(4, 10, 5), By: []string{"month", "pool"}, Depth: 1, Unit: "cpu",
		Zone: time.UTC}
	const h = 3600.0
	for _, c := range []struct {
		name string
		by   []string
		want []Row
	}{
		{"month and pool", []string{"month", "pool"}, []Row{
			{Month: "2026-03", Pool: "physics", Jobs: 2, Failed: 1, UnitSeconds: 4*10*h + 3*h, Started: 1, MeanWait: 2 * h,
				P50Wait: 2 * h, P95Wait: 2 * h, MaxWait: 2 * h},
			{Month: "2026-04", Pool: "biology", Jobs: 2, Succeeded: 1, Cancelled: 1, UnitSeconds: h + 2*h + h, Started: 2,
				MeanWait: 2 * h, P50Wait: h, P95Wait: 3 * h, MaxWait: 3 * h},
			{Month: "2026-04", Pool: "physics", Jobs: 1, Succeeded: 1, UnitSeconds: 4 * 5 * h, CPUSeconds: h},
		}},
		{"kind", []string{"kind"}, []Row{
			{Jobs: 3, Succeeded: 1, Failed: 1, Cancelled: 1, UnitSeconds: 7 * h, Started: 2, MeanWait: 2 * h, P50Wait: h,
				P95Wait: 3 * h, MaxWait: 3 * h},
			{Kind: "mpi", Jobs: 1, Succeeded: 1, UnitSeconds: 60 * h, CPUSeconds: h, Started: 1, MeanWait: 2 * h,
				P50Wait: 2 * h, P95Wait: 2 * h, MaxWait: 2 * h},
		}},
	} {
		ask.By = c.by
		got, err := Read(t.Context(), a, ask)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("by %s:\ngot  %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// TestReadPages checks that no job is missing if there are more jobs than one page holds.
func TestReadPages(t *testing.T) {
	a := &archive{tasks: map[int64][]queue.Task{}}
	for range 2*page + 7 {
		a.add(queue.Job{Pool: "p", Submitted: day(4, 1, 0)},
			queue.Task{Attempt: 1, State: queue.Succeeded, Started: day(4, 1, 1), Ended: day(4, 1, 2)})
	}
	rows, err := Read(t.Context(), a, Ask{Since: day(4, 1, 0), Until: day(4, 2, 0), By: []string{"pool"}, Zone: time.UTC})
	if err != nil || len(rows) != 1 || rows[0].Jobs != 2*page+7 || rows[0].UnitSeconds != float64(2*page+7)*3600 {
		t.Errorf("%+v, %v", rows, err)
	}
}
