package replay

// A replay chooses as the scheduler does: the choice considers only the limits on tasks and units. When it is
// a job's turn and another limit keeps the job from starting, the replay passes over the job's sub-queue.

// admits reports whether the limits of the pools on the way, the licenses and the rates let a job start.
func (r *replay) admits(way []int, j *job) bool {
	n := max(1, j.Gang)
	for _, i := range way {
		if !r.pools[i].admits(j, n) {
			return false
		}
	}
	for name, each := range j.Licenses {
		if n*each > r.Licenses[name] {
			return false
		}
	}
	for _, name := range j.Rates {
		if rate, limited := r.Rates[name]; limited && rate.Left < min(n, rate.Burst) {
			return false
		}
	}
	return true
}

// admits reports whether the limits of one pool let n tasks of a job start.
func (p *pool) admits(j *job, n int64) bool {
	if p.UnitsLeft >= 0 && n*j.Width > p.UnitsLeft {
		return false
	}
	for i, left := range p.MaxLeft {
		if i > 0 && left >= 0 && j.asks(i) > 0 && n*j.asks(i) > left {
			return false
		}
	}
	return n == 1 || (p.TasksLeft < 0 || n <= p.TasksLeft) && (p.GangMax == 0 || n <= p.GangMax)
}

// asks returns how much of a resource each task of the job requests.
func (j *job) asks(resource int) int64 {
	if resource < len(j.Request) {
		return j.Request[resource]
	}
	return 0
}

// park makes the replay pass over the jobs of a sub-queue from now on.
func (p *pool) park(sub int32) {
	for i := range p.jobs {
		if j := &p.jobs[i]; j.SubQueue == sub {
			j.parked = true
		}
	}
}

// use subtracts the request of a task from the rest of the limits and minima.
func (p *pool) use(j *job) {
	for i := range p.MaxLeft {
		if p.MaxLeft[i] >= 0 {
			p.MaxLeft[i] -= j.asks(i)
		}
	}
	for i := range p.MinLack {
		p.MinLack[i] -= j.asks(i)
	}
}

// pay subtracts the request of a task from the licenses and rates.
func (r *replay) pay(j *job) {
	for name, each := range j.Licenses {
		r.Licenses[name] -= each
	}
	for _, name := range j.Rates {
		if rate, limited := r.Rates[name]; limited {
			rate.Left--
			r.Rates[name] = rate
		}
	}
}

// below reports whether a pool is below its minimum of the unit, or of another resource that a startable job
// in it requests.
func (r *replay) below(i int) bool {
	p := r.pools[i]
	if p.MinLeft > 0 {
		return true
	}
	for resource, lack := range p.MinLack {
		if resource > 0 && lack > 0 && r.wants(i, resource) {
			return true
		}
	}
	return false
}

// wants reports whether a startable job in a pool requests a resource.
func (r *replay) wants(i, resource int) bool {
	p := r.pools[i]
	for k := range p.jobs {
		if j := &p.jobs[k]; j.startable() && j.asks(resource) > 0 {
			return true
		}
	}
	for _, k := range p.kids {
		if r.wants(k, resource) {
			return true
		}
	}
	return false
}

// lacking returns the nearest pool on the way up from a leaf that is below its minimum; nil if none is.
func (r *replay) lacking(i int) *pool {
	for ; i >= 0; i = r.pools[i].up {
		if r.below(i) {
			return &r.pools[i]
		}
	}
	return nil
}

// helps reports whether a task of the job uses a resource that a pool still lacks for its minimum.
func (j *job) helps(p *pool) bool {
	if p == nil {
		return false
	}
	if p.MinLeft > 0 {
		return true // every task uses the unit
	}
	for i, lack := range p.MinLack {
		if i > 0 && lack > 0 && j.asks(i) > 0 {
			return true
		}
	}
	return false
}
