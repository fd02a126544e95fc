package replay

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fairlead/fairlead/why"
)

func newReplay(e *why.Evidence, rules func(policy string) Rule) (*replay, error) {
	own := *e // a copy, as the replay changes it
	own.Licenses, own.Rates = maps.Clone(e.Licenses), maps.Clone(e.Rates)
	r := &replay{Evidence: &own}
	at := map[int32]int{}
	for i := range e.Pools {
		p := e.Pools[i] // a copy, as the replay changes it
		var jobs []job
		for _, j := range p.Jobs {
			jobs = append(jobs, job{JobEvidence: &j})
		}
		p.Holds, p.MaxLeft, p.MinLack = slices.Clone(p.Holds), slices.Clone(p.MaxLeft), slices.Clone(p.MinLack)
		at[p.Number] = i
		if p.Days != nil {
			days := *p.Days
			p.Days = &days
		}
		r.pools = append(r.pools, pool{PoolEvidence: &p, up: -1, jobs: jobs})
	}
	for i := range r.pools {
		p := &r.pools[i]
		if p.Parent >= 0 {
			p.up = at[p.Parent]
			parent := &r.pools[p.up]
			parent.kids = append(parent.kids, i)
		}
		if p.Formula != "" {
			if p.rule = ruleOf(p.Policy, rules); p.rule == nil {
				return nil, fmt.Errorf("the policy %s is unknown", p.Policy)
			}
			var names []string
			for _, t := range p.rule.Formula().Terms {
				names = append(names, t.Name)
			}
			eval, err := why.ParseFormula(p.Formula, names)
			if err != nil {
				return nil, err
			}
			p.eval = eval
		}
	}
	return r, nil
}

// next starts the next task and returns its job; 0 if nothing can start.
func (r *replay) next() int64 {
	for r.gang.left == 0 {
		way := r.way()
		if way == nil {
			return 0
		}
		leaf := way[len(way)-1]
		j := r.head(leaf)
		if j == nil {
			return 0
		}
		if !r.admits(way, j) {
			r.pools[leaf].park(j.SubQueue)
			continue
		}
		r.gang = started{way, j, max(1, j.Gang)}
	}
	return r.start()
}

// way returns the path from the root to the leaf that goes first; nil if nothing may start.
func (r *replay) way() []int {
	if !r.open(0) {
		return nil
	}
	way, at := []int{0}, 0
	for len(r.pools[at].kids) > 0 {
		at = r.choose(at)
		way = append(way, at)
	}
	return way
}

// start starts one task of the last choice and returns its job.
func (r *replay) start() int64 {
	j, leaf := r.gang.job, r.pools[r.gang.way[len(r.gang.way)-1]]
	r.gang.left--
	j.Waiting--
	j.Running++
	j.Turn = max(j.Turn, r.Now)
	r.pay(j)
	for _, i := range r.gang.way {
		p := &r.pools[i]
		p.Running += float64(j.Width)
		p.Rate += j.Rate
		p.Started += j.Rate * r.Tau
		if d := p.Days; d != nil {
			d.Today, d.Seconds = d.Today+float64(d.Slots*d.Seconds), 0
			d.Slots += j.Rate
		}
		p.Flight += j.Rate * leaf.Mean
		p.TasksLeft = less(p.TasksLeft, 1)
		p.UnitsLeft = less(p.UnitsLeft, j.Width)
		p.MinLeft -= j.Width
		p.use(j)
		p.hold(j.Request)
		if p.up >= 0 {
			above := &r.pools[p.up]
			above.Turns = math.Max(above.Turns, p.Turn)
			p.Turn = above.Turns + 1/p.Weight
		}
	}
	return j.ID
}

// choose returns the child that goes first. Children below their minimum go before all others.
func (r *replay) choose(at int) int {
	var open, belowMin []int
	for _, k := range r.pools[at].kids {
		if r.open(k) {
			open = append(open, k)
			if r.belowMin(k) {
				belowMin = append(belowMin, k)
			}
		}
	}
	if len(belowMin) > 0 {
		return r.leastOf(at, belowMin).kid
	}
	return r.merged(at, open)
}

func (r *replay) belowMin(i int) bool {
	if r.below(i) {
		return true
	}
	for _, k := range r.pools[i].kids {
		if r.open(k) && r.belowMin(k) {
			return true
		}
	}
	return false
}

// head returns the next job of a leaf: the one with the fewest running tasks, or the oldest. If a pool on the
// way is below a minimum, jobs that help it go first.
func (r *replay) head(i int) *job {
	p := &r.pools[i]
	if p.Ranked {
		return p.headByRank()
	}
	var best *job
	lacks, bestHelps := r.lacking(i), false
	for k := range p.jobs {
		j := &p.jobs[k]
		if !j.startable() {
			continue
		}
		helps := j.helps(lacks)
		if best == nil || helps && !bestHelps || helps == bestHelps && p.serves(j, best) {
			best, bestHelps = j, helps
		}
	}
	return best
}
