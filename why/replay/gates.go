package replay

// A replay chooses as the scheduler does, without regard to what limits other than those in tasks and
// units leave. Only when it is a job's turn, its line is passed over if something does not let it start.

// admits reports whether the limits on the way, the licenses and the rates let a job start.
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

// asks is what each task of the job asks for of a resource.
func (j *job) asks(resource int) int64 {
	if resource < len(j.Request) {
		return j.Request[resource]
	}
	return 0
}

// park passes over the jobs of a line from now on.
func (p *pool) park(line int32) {
	for i := range p.jobs {
		if j := &p.jobs[i]; j.Line == line {
			j.parked = true
		}
	}
}

// use takes what a task asks for off what limits leave.
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

// pay takes what a task asks for off the licenses and rates.
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

// below reports whether a pool has less than its minimum of the unit, or of something else that a
// job in it asks for which may start.
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

// wants reports whether a job in a pool asks for a resource and may start.
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

// lacking is the nearest pool on the way up from a leaf that is below its minimum; nil if none is.
func (r *replay) lacking(i int) *pool {
	for ; i >= 0; i = r.pools[i].up {
		if r.below(i) {
			return &r.pools[i]
		}
	}
	return nil
}

// helps reports whether a task of the job takes some of what a pool lacks of its minimum.
func (j *job) helps(p *pool) bool {
	if p == nil {
		return false
	}
	if p.MinLeft > 0 {
		return true // everything asks for the unit
	}
	for i, lack := range p.MinLack {
		if i > 0 && lack > 0 && j.asks(i) > 0 {
			return true
		}
	}
	return false
}
