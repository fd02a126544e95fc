package why

import "math"

// replay derives the order of starts from evidence: a plain version of what package
// sched does, which looks at every child at every choice.
type replay struct {
	tau, growth float64
	pools       []replayPool
}

type replayPool struct {
	*PoolEvidence
	kids []int
	eval func([]float64) float64
}

// terms computes what a policy compares a child by, from its state. A policy that is
// not listed cannot be replayed.
func (r *replay) terms(policy string, p *PoolEvidence, first float64) ([]float64, float64, bool) {
	switch policy {
	case "fair":
		service := p.Settled + (float64(p.Running*r.tau) - p.Started)
		return []float64{p.Own[0], service - p.Own[1], float64(p.Flight * r.growth), p.Weight}, -p.Weight, true
	case "fifo":
		priority := math.Floor(first / (1 << 48))
		return []float64{priority, first - priority*(1<<48)}, 0, true
	}
	return nil, 0, false
}

func newReplay(e *Evidence) (*replay, error) {
	r := &replay{tau: e.Tau, growth: e.Growth}
	at := map[int32]int{}
	for i := range e.Pools {
		p := e.Pools[i] // a copy: the replay changes it
		p.Jobs = append([]JobEvidence(nil), p.Jobs...)
		at[p.Number] = i
		r.pools = append(r.pools, replayPool{PoolEvidence: &p})
	}
	for i := range r.pools {
		p := &r.pools[i]
		if p.Parent >= 0 {
			parent := &r.pools[at[p.Parent]]
			parent.kids = append(parent.kids, i)
		}
		if p.Formula != "" {
			eval, err := ParseFormula(p.Formula, formulaNames[p.Policy])
			if err != nil {
				return nil, err
			}
			p.eval = eval
		}
	}
	return r, nil
}

// formulaNames are the terms of the policies that can be replayed, in the order in
// which terms returns them.
var formulaNames = map[string][]string{
	"fair": {"joined", "served", "expected", "weight"},
	"fifo": {"priority", "job"},

	"multifactor": {"age", "fairshare", "size", "pool", "qos", "assoc", "tres", "site", "nice"},
}

// next starts the next task and returns its job; 0 when nothing can start.
func (r *replay) next() int64 {
	at := 0
	way := []int{0}
	if !r.open(0) {
		return 0
	}
	for len(r.pools[at].kids) > 0 {
		at = r.choose(at)
		way = append(way, at)
	}
	leaf := r.pools[at]
	j := leaf.head()
	if j == nil {
		return 0
	}
	j.Waiting--
	j.Running++
	for _, i := range way {
		p := r.pools[i].PoolEvidence
		p.Running += float64(j.Width)
		p.Started += float64(j.Width) * r.tau
		p.Flight += float64(j.Width) * leaf.Mean
		p.TasksLeft = less(p.TasksLeft, 1)
		p.UnitsLeft = less(p.UnitsLeft, j.Width)
		p.MinLeft -= j.Width
	}
	return j.ID
}

func less(left, n int64) int64 {
	if left < 0 {
		return left
	}
	return max(0, left-n)
}

// open reports whether something in the pool may start.
func (r *replay) open(i int) bool {
	p := r.pools[i]
	if p.TasksLeft == 0 || p.UnitsLeft == 0 {
		return false
	}
	if len(p.kids) == 0 {
		return p.head() != nil
	}
	for _, k := range p.kids {
		if r.open(k) {
			return true
		}
	}
	return false
}

func (r *replay) choose(at int) int {
	p := r.pools[at]
	best, bestKey, bestTie, bestNeedy := -1, 0.0, 0.0, false
	for _, k := range p.kids {
		if !r.open(k) {
			continue
		}
		values, tie, _ := r.terms(p.Policy, r.pools[k].PoolEvidence, r.first(k))
		if p.Policy == "multifactor" {
			values, tie = r.rankTerms(k)
		}
		key, needy := p.eval(values), r.needy(k)
		better := best < 0 || needy && !bestNeedy
		if needy == bestNeedy && best >= 0 {
			better = key < bestKey || key == bestKey && (tie < bestTie || tie == bestTie && r.pools[k].Number < r.pools[best].Number)
		}
		if better {
			best, bestKey, bestTie, bestNeedy = k, key, tie, needy
		}
	}
	return best
}

func (r *replay) needy(i int) bool {
	if r.pools[i].MinLeft > 0 {
		return true
	}
	for _, k := range r.pools[i].kids {
		if r.open(k) && r.needy(k) {
			return true
		}
	}
	return false
}

// first is the arrival of the first job in a pool that may start.
func (r *replay) first(i int) float64 {
	p := r.pools[i]
	first := math.Inf(1)
	for _, j := range p.Jobs {
		if j.startable() {
			first = math.Min(first, float64(j.Priority)*(1<<48)+float64(j.ID))
		}
	}
	for _, k := range p.kids {
		if r.open(k) {
			first = math.Min(first, r.first(k))
		}
	}
	return first
}

func (j *JobEvidence) startable() bool { return j.Waiting > 0 && (j.Most == 0 || j.Running < j.Most) }

// head is the job of a leaf that starts next: that with the fewest running tasks, or
// the oldest.
func (p *replayPool) head() *JobEvidence {
	if p.Ranked {
		return p.headByRank()
	}
	var best *JobEvidence
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if !j.startable() {
			continue
		}
		if best == nil || !p.Strict && j.Running < best.Running || (p.Strict || j.Running == best.Running) && j.ID < best.ID {
			best = j
		}
	}
	return best
}
