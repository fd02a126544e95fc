package forecast

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Delays says which waiting jobs would start later because of a reservation, if no job is submitted.
type Delays struct {
	At time.Time `json:"at"`
	// Later counts the jobs that would start later, and Jobs are the ones with the longest delays.
	Later int     `json:"later"`
	Jobs  []Delay `json:"jobs"`
	// Unknown says that too many jobs wait to replay the future.
	Unknown bool `json:"unknown,omitempty"`
}

// Delay is a job that would start later.
type Delay struct {
	Job  int64  `json:"job"`
	Name string `json:"name,omitempty"`
	User string `json:"user"`
	Pool string `json:"pool"`
	// Before and After are its starts without and with the reservation; without After it would not start at all.
	Before time.Time  `json:"before"`
	After  *time.Time `json:"after,omitempty"`
	// Predicted means that the instants rest on usual run times, because some task has no time limit.
	Predicted bool `json:"predicted,omitempty"`
}

// Bounds of the delays: the number of jobs that are named, and the shortest delay that counts.
const (
	delaysNamed = 20
	leastDelay  = time.Second
)

// Reserved predicts which waiting jobs a reservation would delay: it replays the future in two forks of the scheduler,
// without and with the reservation. It changes nothing.
func (fc *Forecaster) Reserved(ctx context.Context, r engine.Reservation) (*Delays, error) {
	now := time.Now()
	replays := engine.Read(fc.loop, func(s *engine.State) []func() *timetable {
		if s.Core.View(sched.Root).Waiting >= explain.ManyWaiting {
			return nil
		}
		s.Core.Advance(now)
		fork := s.Core.Fork()
		windows := slices.DeleteFunc(slices.Clone(s.Core.Cluster().Windows().All()),
			func(w cluster.Window) bool { return w.Name == r.Name })
		fork.SetWindows(append(windows, cluster.Window{Name: r.Name, Nodes: r.Nodes, From: r.From.UnixNano(),
			To: r.Until.UnixNano(), Closed: r.Maintenance}), now)
		return []func() *timetable{fc.replayed(s, now), fc.replayed(s.With(fork), now)}
	})
	d := &Delays{At: now, Jobs: []Delay{}, Unknown: replays == nil}
	if d.Unknown {
		return d, nil
	}
	d.compare(replays[0](), replays[1]())
	return d, d.name(ctx, fc)
}

// compare finds the jobs that start later in the second timetable.
func (d *Delays) compare(before, after *timetable) {
	for job := range before.row {
		was, sure := before.By(job)
		is, known := after.By(job)
		if !sure || !known && after.endless {
			if was, sure = before.Likely(job); !sure {
				continue
			}
			is, known = after.Likely(job)
			d.add(Delay{Job: job, Before: was, Predicted: true}, is, known)
			continue
		}
		d.add(Delay{Job: job, Before: was}, is, known)
	}
	d.Later = len(d.Jobs)
	slices.SortFunc(d.Jobs, func(x, y Delay) int {
		return cmp.Or(cmp.Compare(y.length(), x.length()), cmp.Compare(x.Job, y.Job))
	})
	d.Jobs = d.Jobs[:min(len(d.Jobs), delaysNamed)]
}

// add adds a job that starts later.
func (d *Delays) add(x Delay, is time.Time, known bool) {
	if known {
		if is.Sub(x.Before) < leastDelay {
			return
		}
		x.After = &is
	}
	d.Jobs = append(d.Jobs, x)
}

// length is by how much the job starts later.
func (x *Delay) length() time.Duration {
	if x.After == nil {
		return sched.NoLimit
	}
	return x.After.Sub(x.Before)
}

// name fills in the names, users and pools of the jobs.
func (d *Delays) name(ctx context.Context, fc *Forecaster) error {
	ids := make([]int64, len(d.Jobs))
	for i := range d.Jobs {
		ids[i] = d.Jobs[i].Job
	}
	return fc.eachJob(ctx, ids, func(i int, j *queue.Job) {
		d.Jobs[i].Name, d.Jobs[i].User, d.Jobs[i].Pool = j.Name, j.User, j.Pool
	})
}
