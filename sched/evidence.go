package sched

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/why"
)

// Evidence returns the state that determines the order of the next starts, as [Scheduler.Preview] gives it: the pools
// with waiting jobs, if room is unlimited, and some of their jobs. The argument "most" bounds the number of jobs of
// each pool.
func (v Explainer) Evidence(most int) *why.Evidence {
	v.s = v.s.Fork()
	v.s.gates.boundless()
	v.s.gates.holdUncounted()
	e := &why.Evidence{
		Tau: v.s.site.now.Tau, Now: since(v.s.site.at), Growth: v.s.site.now.Growth, Complete: true,
		Capacity: v.s.site.instant.Capacity, Seconds: v.s.site.seconds(), MeanLife: v.s.site.instant.MeanLife,
	}
	if v.s.orders.holds {
		e.Totals = slices.Clone(v.s.tariff.totals)
	}
	if v.requests() {
		v.evidenceOfResources(e)
	}
	v.evidence(int32(Root), -1, most, e)
	return e
}

func (v Explainer) evidence(id, parent int32, most int, e *why.Evidence) {
	p := &v.s.tree.pools[id]
	if p.Waiting == 0 && id != int32(Root) {
		return
	}
	x := why.PoolEvidence{
		Number: id, Parent: parent, Name: v.s.tree.labels[id].name, Path: v.s.tree.Path(PoolID(id)),
		Weight: p.Weight, Settled: p.Settled, Running: p.Running, Rate: p.Rate, Started: p.Started, Flight: p.Flight,
		Own: p.Own, TasksLeft: -1, UnitsLeft: -1, Divides: p.Divides(),
	}
	if parent >= 0 {
		v.evidenceOfPlace(id, &x)
	}
	if v.s.tree.labels[id].kind == priorityClass {
		x.Priority = int(max(0, p.priority))
	}
	if l := v.s.tree.limits(id); l != nil {
		v.evidenceOfLimit(l, p, &x)
	}
	if p.inner < 0 {
		x.Mean = v.s.tree.meanOf(id)
		x.Strict = p.queue >= 0 && v.s.queues.all[p.queue].strict
		x.Ranked = p.queue >= 0 && v.s.queues.all[p.queue].ranked
		x.Jobs = v.evidenceOfJobs(p, most, e)
		v.evidenceOfRanks(id, x.Jobs)
		e.Pools = append(e.Pools, x)
		return
	}
	in := &v.s.tree.inners[p.inner]
	v.evidenceOfPolicy(in, &x, e)
	e.Pools = append(e.Pools, x)
	for _, kid := range in.kids {
		v.evidence(kid, id, most, e)
	}
}

// evidenceOfPolicy adds the rule that divides a pool.
func (v Explainer) evidenceOfPolicy(in *inner, x *why.PoolEvidence, e *why.Evidence) {
	f := in.policy.Formula()
	x.Policy, x.Formula, x.Order, x.Clock = f.Policy, f.Text, f.Order, in.clock
	x.Weights, x.Merges, x.ByDays = in.counted.value(), in.as.merger != nil, in.as.daily != nil
	if in.held != nil {
		x.Turns = in.held.clock
	}
	if in.as.allot == nil {
		return
	}
	if !in.as.allot.Single() {
		e.Lacks("the policy " + f.Policy + " of " + pathOf(x.Path) + " allots free slots in rounds, not by the key")
	}
	v.s.choice.retarget(in)
	for _, kid := range in.kids {
		if v.s.tree.pools[kid].Waiting == 0 {
			x.Loaned += v.s.tree.pools[kid].over
		}
	}
}

// requests reports whether the order depends on the requested amount of each resource, because pools are compared
// or limited by these amounts.
func (v Explainer) requests() bool {
	return v.s.orders.holds || slices.ContainsFunc(v.s.tree.limited, func(l limit) bool {
		return len(l.max) > 1 ||
			len(l.min) > 1
	})
}

// evidenceOfResources adds the names of the resources.
func (v Explainer) evidenceOfResources(e *why.Evidence) {
	capacity, _ := v.s.site.cluster.Capacity()
	for r := range capacity {
		e.Resources = append(e.Resources, v.s.site.cluster.Resource(r))
	}
}

// requestFor is the request of a task with the key, if the order depends on it.
func (v Explainer) requestFor(key cluster.Key, e *why.Evidence) []int64 {
	if e.Resources == nil {
		return nil
	}
	return slices.Clone(v.s.site.cluster.Request(key))
}

// evidenceOfQuotas returns the licenses and rates that tasks with a key need, and adds their free amounts to the
// evidence.
func (v Explainer) evidenceOfQuotas(key cluster.Key, e *why.Evidence) (licenses map[string]int64, rates []string) {
	t := v.s.quotas.needsOf(key)
	if t == nil {
		return nil, nil
	}
	for _, need := range t.licenses {
		l := &v.s.quotas.licenses[need.license]
		licenses = put(licenses, l.name, need.n)
		e.Licenses = put(e.Licenses, l.name, l.total-l.used)
	}
	if u, most := v.s.quotas.userOfKey(key), int64(v.s.site.cfg.UserRunning); u != nil && most > 0 {
		licenses = put(licenses, u.of, 1) // a task that may run is like a license that it holds
		e.Licenses = put(e.Licenses, u.of, most-u.used)
	}
	for _, n := range t.rates {
		if r := &v.s.quotas.rates[n]; r.Limit.Count > 0 {
			rates = append(rates, r.name)
			e.Rates = put(e.Rates, r.name, why.RateLeft{Left: r.Tokens(v.s.site.at), Burst: r.Limit.burst()})
		}
	}
	return licenses, rates
}

// put sets an entry of a map, and creates the map if it is nil.
func put[V any](m map[string]V, name string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[name] = v
	return m
}

// evidenceOfPlace adds the numbers, other than its account, that the parent's policy reads of a pool.
func (v Explainer) evidenceOfPlace(id int32, x *why.PoolEvidence) {
	p, in := &v.s.tree.pools[id], v.s.tree.parentOf(id)
	at := v.s.orders.setting(in)
	x.Target = p.Target
	if h := in.held; h != nil && int(p.seat.kid) < len(h.turns) {
		x.Holds, x.Turn = slices.Clone(h.row(int(p.seat.kid))), h.turns[p.seat.kid]
	}
	if d := v.s.tree.daysOf(p); d != nil {
		x.Days = &why.DaysUsed{}
		x.Days.Past, x.Days.Today, x.Days.Slots, x.Days.Seconds = d.Parts(at.Unix)
	}
	if in.deficits == nil {
		return
	}
	for m, d := range at.debts {
		received, ideal, capacity := at.owedIn(p, m)
		x.Owed = append(x.Owed, why.Owed{Received: received, Ideal: ideal, Capacity: capacity,
			Fixed: d.Still(int(p.seat.kid)), Drift: d.Drift(int(p.seat.kid))})
	}
}

// evidenceOfLimit adds the limits of a pool.
func (v Explainer) evidenceOfLimit(l *limit, p *Pool, x *why.PoolEvidence) {
	x.GangMax = int64(l.jobRunning)
	if l.tasks > 0 {
		x.TasksLeft = max(0, int64(l.tasks-p.Tasks))
	}
	if len(l.max) > 0 && l.max[0] >= 0 {
		x.UnitsLeft = max(0, l.max[0]-l.used[0])
	}
	if len(l.min) > 0 {
		x.MinLeft = l.min[0] - l.used[0]
	}
	for r := 0; len(l.max) > 1 && r < len(l.max); r++ {
		left := int64(-1)
		if l.max[r] >= 0 {
			left = max(0, l.max[r]-l.used[r])
		}
		x.MaxLeft = append(x.MaxLeft, left)
	}
	for r := 0; len(l.min) > 1 && r < len(l.min); r++ {
		x.MinLack = append(x.MinLack, l.min[r]-l.used[r])
	}
}

func (v Explainer) evidenceOfJobs(p *Pool, most int, e *why.Evidence) []why.JobEvidence {
	if p.queue < 0 {
		return nil
	}
	q := &v.s.queues.all[p.queue]
	var jobs []why.JobEvidence
	for i := range q.subs() {
		sub := q.sub(i)
		if sub.gate != noGate || !sub.ready() {
			continue
		}
		if sub.fresh.jobs > most-len(jobs) {
			e.Lacks("too many jobs wait")
			return jobs
		}
		same := v.evidenceOfSubQueue(p, sub, int32(i), e)
		f := sub.fresh.clone()
		for f.jobs > 0 {
			x, j := f.pop(), same
			j.ID, j.Since, j.Turn, j.Waiting, j.Max = x.id, x.since, x.since, int64(x.tasks), int64(tighter(x.max, q.max))
			jobs = append(jobs, j)
		}
		for _, b := range sub.begun {
			x, j := &v.s.queues.begun[b], same
			j.ID, j.Since, j.Turn = x.id, x.since, x.turn
			j.Waiting, j.Running, j.Max = int64(x.waiting), int64(x.running), int64(x.max)
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b why.JobEvidence) int { return cmp.Compare(a.ID, b.ID) })
	return jobs
}

// evidenceOfSubQueue has the values common to all jobs of a sub-queue.
func (v Explainer) evidenceOfSubQueue(p *Pool, sub *subQueue, i int32, e *why.Evidence) why.JobEvidence {
	j := why.JobEvidence{
		SubQueue: i, Width: int64(v.s.site.cluster.Width(sub.key)), Rate: v.s.tariff.price(sub.key),
		Gang:     int64(v.s.site.gangOf(sub.key)),
		Priority: int(sub.priority), Main: v.mainFor(sub.key), Request: v.requestFor(sub.key, e),
	}
	j.Licenses, j.Rates = v.evidenceOfQuotas(sub.key, e)
	return j
}

// mainFor is the index of a key's dominant resource, if deficits are counted.
func (v Explainer) mainFor(key cluster.Key) int {
	if !v.s.orders.owes {
		return 0
	}
	return int(v.s.orders.mainOf(key))
}
