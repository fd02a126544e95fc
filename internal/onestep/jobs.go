package onestep

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// placed is a job in the scheduler, with a number of its own there.
type placed struct {
	*Job
	pool string
	job  sched.Job
}

// place adds the jobs of a state, oldest first, because the scheduler assumes that jobs with larger numbers
// are younger. Their numbers begin above the numbers of the counted tasks.
func (s *State) place(core *sched.Scheduler, shares *allocation.Config) ([]placed, error) {
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
		priority := slices.IndexFunc(core.Read().Config().Priorities,
			func(p sched.Priority) bool { return p.Name == cmp.Or(x.Priority, "normal") })
		if priority < 0 && x.Priority != "" {
			return nil, fmt.Errorf("state: job %d: %q is not a priority", x.ID, x.Priority)
		}
		if x.QOS != "" && !slices.Contains(shares.Levels, x.QOS) {
			return nil, fmt.Errorf("state: job %d: %q is not a quality of service that the configuration names (multifactor: qos)", x.ID, x.QOS)
		}
		factors := shares.Factors(queue.Header{
			User: x.User, Group: x.Group, Kind: x.Kind, Requestor: cmp.Or(x.Requestor, x.User),
			Priority: cmp.Or(x.Priority, "normal"), QOS: x.QOS, Nice: x.Nice, Limit: limit,
		})
		x.job = sched.Job{
			ID: int64(2*len(s.Pools) + 1 + i), Pool: pool, Key: core.Key(cluster.Amounts(x.Request)),
			Priority: max(0, priority), Tasks: x.Tasks, Submitted: x.Submitted, Class: core.Class(factors), Limit: limit,
		}
		core.Add(x.job, s.Now)
	}
	return all, nil
}

// jobs records the priorities of the jobs, and follows the next starts until each job had one.
func (r *Result) jobs(core *sched.Scheduler, all []placed) {
	if len(all) == 0 {
		return
	}
	r.byCore = map[int64]*JobResult{}
	for i := range all {
		x := &JobResult{ID: all[i].ID, Pool: all[i].pool}
		if t, ok := core.Explain().Priority(all[i].job); ok {
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
		return cmp.Compare(uint(a.Rank-1), uint(b.Rank-1)) // jobs without a rank come last
	})
}
