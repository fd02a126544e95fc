package onestep

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// Job is a job of a state that waits, one by one beside the counts of its pool: for the
// policy multifactor, under which each has a priority.
type Job struct {
	ID        int64            `json:"id"`
	Submitted time.Time        `json:"submitted"` // default: now
	Tasks     int              `json:"tasks"`     // default: 1
	Request   map[string]int64 `json:"request"`   // per task; default: one unit
	Priority  string           `json:"priority"`  // default: normal
	QOS       string           `json:"qos"`
	Nice      int              `json:"nice"`
	Limit     string           `json:"limit"` // e.g. 2h
	User      string           `json:"user"`  // this and what follows: for the rules of the site
	Group     string           `json:"group"`
	Kind      string           `json:"kind"`
	Requestor string           `json:"requestor"`

	limit time.Duration
}

// JobResult is what the step says about one job.
type JobResult struct {
	ID       int64                 `json:"id"`
	Pool     string                `json:"pool"`
	Rank     int                   `json:"rank,omitempty"` // in the order of the next starts, from 1
	Start    int                   `json:"start"`          // tasks
	Priority *why.Number           `json:"priority,omitempty"`
	Terms    map[string]why.Number `json:"terms,omitempty"`

	names []string
}

// Names are the terms in the order of the formula.
func (j *JobResult) Names() []string { return j.names }

// checkJobs says what is wrong with the jobs of a pool, and fills in what they leave out.
func (p *Pool) checkJobs(s *State, seen map[int64]bool) (tasks int, err error) {
	for i := range p.Jobs {
		j := &p.Jobs[i]
		switch {
		case j.ID < 1:
			return 0, fmt.Errorf("state: pool %s: a job needs an id above 0", p.Path)
		case seen[j.ID]:
			return 0, fmt.Errorf("state: job %d appears twice", j.ID)
		case j.Tasks < 0 || j.Tasks > maxTasks:
			return 0, fmt.Errorf("state: job %d: tasks must be from 0 to %d", j.ID, maxTasks)
		case j.Nice < -sched.MaxNice || j.Nice > sched.MaxNice:
			return 0, fmt.Errorf("state: job %d: nice must be from %d to %d", j.ID, -sched.MaxNice, sched.MaxNice)
		}
		seen[j.ID] = true
		j.Tasks = max(1, j.Tasks)
		tasks += j.Tasks
		if j.Submitted.IsZero() {
			j.Submitted = s.Now
		}
		if j.Submitted.After(s.Now) {
			return 0, fmt.Errorf("state: job %d was submitted after now", j.ID)
		}
		if err := checkRequest(j.Request); err != nil {
			return 0, fmt.Errorf("state: job %d: %w", j.ID, err)
		}
		if j.Limit != "" {
			if j.limit, err = units.ParseTimeLimit(j.Limit); err != nil {
				return 0, fmt.Errorf("state: job %d: limit: %w", j.ID, err)
			}
			if j.limit == 0 {
				j.limit = fairlead.NoLimit
			}
		}
	}
	return tasks, nil
}

// checkRequest says what is wrong with what a task takes.
func checkRequest(request map[string]int64) error {
	for name, n := range request {
		if err := errors.Join(share.CheckName(name), positive(n)); err != nil {
			return fmt.Errorf("request: %w", err)
		}
	}
	return nil
}

func positive(n int64) error {
	if n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("must be from 0 to %d, got %d", math.MaxInt32, n)
	}
	return nil
}

// placed is a job in the scheduler, under a number of its own there.
type placed struct {
	*Job
	pool string
	job  sched.Job
}

// place adds the jobs of a state, oldest first: the scheduler takes jobs with larger
// numbers to be younger. Theirs begin above those of the counts.
func (s *State) place(core *sched.Scheduler, shares *fairlead.Shares) ([]placed, error) {
	var all []placed
	for i := range s.Pools {
		for k := range s.Pools[i].Jobs {
			all = append(all, placed{Job: &s.Pools[i].Jobs[k], pool: s.Pools[i].Path})
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.ID, b.ID)) })
	for i := range all {
		x := &all[i]
		pool := core.Pool(x.pool)
		limit, err := shares.LimitIn(core.Path(pool), x.limit)
		if err != nil {
			return nil, fmt.Errorf("state: job %d: %w", x.ID, err)
		}
		priority := slices.IndexFunc(core.Config().Priorities, func(p sched.Priority) bool { return p.Name == cmp.Or(x.Priority, "normal") })
		if priority < 0 && x.Priority != "" {
			return nil, fmt.Errorf("state: job %d: %q is not a priority", x.ID, x.Priority)
		}
		if x.QOS != "" && !slices.Contains(shares.Levels, x.QOS) {
			return nil, fmt.Errorf("state: job %d: %q is not a quality of service that the configuration names (multifactor: qos)", x.ID, x.QOS)
		}
		traits := shares.Traits(fairlead.Header{
			User: x.User, Group: x.Group, Kind: x.Kind, Requestor: cmp.Or(x.Requestor, x.User),
			Priority: cmp.Or(x.Priority, "normal"), QOS: x.QOS, Nice: x.Nice, Limit: limit,
		})
		x.job = sched.Job{
			ID: int64(2*len(s.Pools) + 1 + i), Pool: pool, Shape: core.Shape(cluster.Amounts(x.Request)),
			Priority: max(0, priority), Tasks: x.Tasks, Submitted: x.Submitted, Class: core.Class(traits), Limit: limit,
		}
		core.Add(x.job, s.Now)
	}
	return all, nil
}

// jobs notes the priorities of the jobs and follows the next starts until each had one.
func (r *Result) jobs(core *sched.Scheduler, all []placed) {
	if len(all) == 0 {
		return
	}
	r.byCore = map[int64]*JobResult{}
	for i := range all {
		x := &JobResult{ID: all[i].ID, Pool: all[i].pool}
		if t, ok := core.Priority(all[i].job); ok {
			priority := why.Number(-t.Key)
			x.Priority, x.Terms = &priority, map[string]why.Number{}
			for k, term := range t.Formula.Terms {
				x.Terms[term.Name] = why.Number(t.Values[k])
				x.names = append(x.names, term.Name)
			}
		}
		r.byCore[all[i].job.ID] = x
		r.Jobs = append(r.Jobs, x)
	}
	ranked, steps := 0, 0
	core.Preview(func(st sched.Start, _ float64) bool {
		if x := r.byCore[st.Job]; x != nil && x.Rank == 0 {
			ranked++
			x.Rank = ranked
		}
		steps++
		return ranked < len(all) && steps < maxOrder
	})
	slices.SortStableFunc(r.Jobs, func(a, b *JobResult) int {
		return cmp.Compare(uint(a.Rank-1), uint(b.Rank-1)) // those without a rank at the end
	})
}
