package why

import "math"

// replay derives the order of starts from evidence: a plain version of what package
// sched does, which looks at every child at every choice.
type replay struct {
	*Evidence
	pools []replayPool
	gang  started
	close bool // some choice was between keys that rounding might tell apart
}

// started is the last choice, and how many tasks start by it still.
type started struct {
	way  []int // from the root to the leaf
	job  *JobEvidence
	left int64
}

type replayPool struct {
	*PoolEvidence
	up   int // -1 for the root
	kids []int
	eval func([]float64) float64
}

func newReplay(e *Evidence) (*replay, error) {
	r := &replay{Evidence: e}
	at := map[int32]int{}
	for i := range e.Pools {
		p := e.Pools[i] // a copy: the replay changes it
		p.Jobs = append([]JobEvidence(nil), p.Jobs...)
		p.Holds = append([]int64(nil), p.Holds...)
		at[p.Number] = i
		if p.Days != nil {
			days := *p.Days
			p.Days = &days
		}
		r.pools = append(r.pools, replayPool{PoolEvidence: &p, up: -1})
	}
	for i := range r.pools {
		p := &r.pools[i]
		if p.Parent >= 0 {
			p.up = at[p.Parent]
			parent := &r.pools[p.up]
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

// next starts the next task and returns its job; 0 when nothing can start.
func (r *replay) next() int64 {
	if r.gang.left > 0 {
		return r.start()
	}
	at := 0
	way := []int{0}
	if !r.open(0) {
		return 0
	}
	for len(r.pools[at].kids) > 0 {
		at = r.choose(at)
		way = append(way, at)
	}
	j := r.pools[at].head()
	if j == nil {
		return 0
	}
	r.gang = started{way, j, max(1, j.Gang)}
	return r.start()
}

// start starts one task of the last choice and returns its job.
func (r *replay) start() int64 {
	j, leaf := r.gang.job, r.pools[r.gang.way[len(r.gang.way)-1]]
	r.gang.left--
	j.Waiting--
	j.Running++
	for _, i := range r.gang.way {
		p := r.pools[i].PoolEvidence
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
		p.hold(j.Request)
		if up := r.pools[i].up; up >= 0 {
			above := r.pools[up].PoolEvidence
			above.Turns = math.Max(above.Turns, p.Turn)
			p.Turn = above.Turns + 1/p.Weight
		}
	}
	return j.ID
}

// hold adds what a task takes to what the pool holds.
func (p *PoolEvidence) hold(request []int64) {
	for len(p.Holds) < len(request) {
		p.Holds = append(p.Holds, 0)
	}
	for i, n := range request {
		p.Holds[i] += n
	}
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

// choose is the child that goes first: of those below their minimum, if there are any.
func (r *replay) choose(at int) int {
	var open, needy []int
	for _, k := range r.pools[at].kids {
		if r.open(k) {
			open = append(open, k)
			if r.needy(k) {
				needy = append(needy, k)
			}
		}
	}
	if len(needy) > 0 {
		return r.leastOf(at, needy).kid
	}
	return r.merged(at, open)
}

// standing is what a child is compared by.
type standing struct {
	kid             int
	key, tie, fixed float64
	drift           [2]float64
	number          int32
}

// before is [Level.before] for children of which none is below its minimum.
func (a standing) before(b standing) bool {
	switch {
	case a.key != b.key:
		return a.key < b.key
	case a.tie != b.tie:
		return a.tie < b.tie
	case a.fixed != b.fixed && a.drift == b.drift:
		return a.fixed < b.fixed
	}
	return a.number < b.number
}

// near reports whether two keys differ by no more than rounding may add up to. What is
// owed is kept as two large sums, and which of two that are owed the same goes first is
// decided by how these came about.
func (a standing) near(b standing) bool {
	return a.key != b.key && math.Abs(a.key-b.key) <= 1e-9*math.Max(1, math.Abs(a.key))
}

func (r *replay) leastOf(at int, kids []int) standing {
	best := standing{kid: -1}
	for _, k := range kids {
		s := r.standing(at, k)
		if best.kid >= 0 && r.pools[at].Policy == "deficit" && s.near(best) {
			r.close = true
		}
		if best.kid < 0 || s.before(best) {
			best = s
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
