// Package onestep runs one scheduling step on a handwritten state: users try a policy with it, and tests
// outside the project check a policy with it.
package onestep

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/sched"
)

// Run puts the state into a scheduler under the shares, and makes one step.
func Run(shares allocation.Config, s *State) (*Result, error) {
	cfg := shares.Sched
	cfg.Unit = unit(cfg.Unit, s.Capacity)
	core, err := sched.New(cfg, s.Now, s.Seed)
	if err != nil {
		return nil, err
	}
	node := core.Join("all", cluster.Amounts(s.Capacity), s.Now)
	leaves := fill(core, s, node)
	if s.RebalanceOverSince != nil {
		core.Memory().FarApartSince(*s.RebalanceOverSince)
	}
	placed, err := s.place(core, &shares)
	if err != nil {
		return nil, err
	}
	if core.Read().Ranks() {
		core.Memory().Renew()
	}
	_, free := core.Cluster().Capacity()
	r := &Result{Version: 1, Now: s.Now, Unit: cfg.Unit, Capacity: s.Capacity, Idle: free[0], Order: []string{},
		Pools: map[string]*PoolResult{}}
	r.describe(core)
	r.order(core, leaves)
	r.jobs(core, placed)
	r.step(core, s.Now)
	return r, nil
}

// unit returns the resource that counts tasks: the configured one if the capacity includes it, otherwise the
// only resource of the capacity.
func unit(configured string, capacity map[string]int64) string {
	if _, ok := capacity[configured]; ok || len(capacity) != 1 {
		return configured
	}
	return slices.Collect(maps.Keys(capacity))[0]
}

// fill puts the tasks of the state into the scheduler. The running tasks of a pool are one job, and the
// waiting tasks are another. Both jobs have the default time limit of their pool. It returns the leaves. The
// pools are created before their usage is set, because the state describes an instant at which all pools
// exist, so that no pool returns from an absence.
func fill(core *sched.Scheduler, s *State, node cluster.NodeID) []sched.PoolID {
	normal := slices.IndexFunc(core.Read().Config().Priorities, func(p sched.Priority) bool { return p.Name == "normal" })
	var leaves []sched.PoolID
	root := core.Read().Config().Root
	job := func(p *Pool, id, tasks int) sched.Job {
		pool := core.Pool(p.Path)
		limit := root.Times(core.Path(pool)).Default()
		return sched.Job{ID: int64(id), Pool: pool, Key: core.Key(cluster.Amounts(p.Request)), Priority: max(0, normal),
			Tasks: tasks, Limit: limit}
	}
	for i := range s.Pools {
		core.Pool(s.Pools[i].Path)
	}
	// Only now are the leaves known: the tasks of a pool with children are in its child default.
	for i := range s.Pools {
		p := &s.Pools[i]
		leaves = append(leaves, core.Pool(p.Path))
		if p.Waiting > 0 {
			core.Add(job(p, len(s.Pools)+1+i, p.Waiting), s.Now)
		}
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		for k := range p.Running {
			started := s.Now
			if s.RebalanceOverSince != nil { // it did not just start, so it may be stopped
				started = started.Add(-time.Second)
			}
			if k < len(p.Started) {
				started = p.Started[k]
			}
			core.Adopt(job(p, 1+i, p.Running), node, started, s.Now)
		}
		// used is all service that the pool received, including the service of its running tasks so far.
		leaf := core.Pool(p.Path)
		core.Memory().SetUsage(leaf, p.Used-core.View(leaf).Service(core.Read().Now()))
		core.Memory().SetDeficit(leaf, p.Deficit)
	}
	return leaves
}

// describe records the state of all pools before the step.
func (r *Result) describe(core *sched.Scheduler) {
	entitled := core.Read().Entitlements()
	for i := 1; i < core.Read().Pools(); i++ {
		id := sched.PoolID(i)
		if core.Read().PriorityClass(id) {
			continue
		}
		p := core.View(id)
		x := &PoolResult{
			Share: entitled[id].Share, FairNow: entitled[id].Now, Used: p.Service(core.Read().Now()) / core.Read().Now().Growth,
			Running: int(p.Tasks), Waiting: int(p.Waiting),
		}
		levels := core.Explain().Comparisons(id, 1)
		last := levels[len(levels)-1]
		x.Policy, x.Formula, x.Order = last.Policy, last.Formula, last.Order
		for _, c := range last.Children {
			if c.Name == last.You {
				x.Terms, x.Key, x.Resource = c.Terms, c.Key, c.Resource
			}
		}
		path := core.Path(id)
		r.Pools[path] = x
		r.paths = append(r.paths, path)
	}
	r.fairShares(core)
	slices.SortFunc(r.paths, strings.Compare)
}

// order follows the next starts until every pool with waiting tasks had one.
func (r *Result) order(core *sched.Scheduler, leaves []sched.PoolID) {
	left := 0
	for _, id := range leaves {
		if core.View(id).Waiting > 0 {
			left++
		}
	}
	seen := map[sched.PoolID]bool{}
	steps := 0
	core.Preview(func(st sched.Start, _ float64) bool {
		if id := st.Pool; !seen[id] {
			seen[id] = true
			r.Order = append(r.Order, core.Path(id))
			r.Pools[core.Path(id)].Rank = len(r.Order)
		}
		steps++
		return len(seen) < left && steps < maxOrder
	})
}

// step makes steps until the scheduler has no more starts or stops, and counts the starts. Tasks that it
// stops end at once, and the starts in their place count, too.
func (r *Result) step(core *sched.Scheduler, now time.Time) {
	var d sched.Decision
	for more := true; more; more = d.More || len(d.Stops) > 0 {
		core.Step(now, 0, &d)
		for _, st := range d.Starts {
			if j := r.byCore[st.Job]; j != nil {
				j.Start++
			}
			r.count(core, st.Pool, func(p *PoolResult) { p.Start++ })
		}
		for _, st := range d.Stops {
			r.count(core, st.Pool, func(p *PoolResult) { p.Stop++ })
		}
		for _, st := range d.Stops {
			core.Finish(st.Run, now, false)
		}
	}
}

func (r *Result) count(core *sched.Scheduler, leaf sched.PoolID, add func(*PoolResult)) {
	for id := leaf; id != sched.Root; id = core.Read().Parent(id) {
		if !core.Read().PriorityClass(id) {
			add(r.Pools[core.Path(id)])
		}
	}
}
