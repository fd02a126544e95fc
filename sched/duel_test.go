package sched_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// duel is a machine on which one job, the victim, waits among the jobs of an adversary.
type duel struct {
	*world
	rng      *rand.Rand
	pools    []string // leaf pools; the victim is in the first
	part     float64  // the part of the machine to which the first pool is entitled
	policies string
	backfill sched.Backfill
	nodes    []int64 // processors of each node
	slots    float64 // processors of all nodes
	free     bool    // draws the exceptions of TestStarvation, too
	fifo     bool    // all pools serve in order of arrival
	drawn    bool    // some pool draws lots for who goes first
	arrival  bool    // some pool serves in order of arrival
	urgent   bool    // jobs of the adversary have a higher priority
	halfLife time.Duration
	alarm    func(why.Gate) // called if the scheduler says that the victim starves
	most     int64          // maximum of a pool on the way to the victim; 0: none
	licenses int64
	longest  time.Duration // the longest time that a task may run
	patience time.Duration
	limits   string // of the tasks: none, exact, loose, or mixed (none for some jobs, loose for others)
	plan     string // of the adversary

	want    sched.Request // the request of the victim
	victim  int64
	came    time.Time // when the victim was submitted
	comes   time.Time
	started bool
	runs    []duelRun
	lengths map[int64]time.Duration
	recent  []sched.Job   // submitted lately
	waiting int           // waiting jobs of the adversary
	users   uint32        // users that the adversary has made up
	burst   time.Duration // until the next one
}

type duelRun struct {
	id    sched.RunID
	ends  time.Time
	width int64
}

// remembering are the policies for the tree of a duel of TestStarvation; TestStarvationIsSeen draws exceptions. Under
// decay all children have the same weight: by its formula, a pool that does not use up a larger share stays first.
// Under load each pool is entitled to at least one slot. Under load and deficit neither the victim nor most other jobs
// ask for licenses, because these policies also count work that only licenses keep from starting.
var remembering = []string{"fair", "fairtree", "deficit", "decay", "drf", "load", "multifactor", "fifo", "lottery"}

func oneOf[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func newDuel(t *testing.T, rng *rand.Rand, d *duel) *duel {
	d.rng, d.lengths = rng, map[int64]time.Duration{}
	d.longest = time.Duration(20+rng.IntN(200)) * time.Second
	d.limits, d.plan = oneOf(rng, "none", "none", "exact", "loose", "mixed"), oneOf(rng, plans...)
	d.licenses = int64(rng.IntN(4))
	if d.free {
		d.plan = oneOf(rng, furtherPlans...)
	}
	for i := range 1 + rng.IntN(4) {
		d.nodes = append(d.nodes, int64(1+rng.IntN(8)))
		d.slots += float64(d.nodes[i])
	}
	root := d.tree()
	for !d.free && strings.Contains(d.policies, "load") && d.part*d.slots < 1 {
		d.pools = nil
		root = d.tree()
	}
	d.halfLife = d.longest * time.Duration(1+rng.IntN(50))
	cfg := sched.Config{Root: root, NewPolicy: policy.New(policy.Options{}), Backfill: d.backfill,
		HalfLife: d.halfLife, TaskSeconds: d.longest.Seconds() / 2,
		Licenses: map[string]int64{"lic": d.licenses}, Multifactor: sched.DefaultMultifactor()}
	cfg.Multifactor.Recalculate = d.longest
	if rng.IntN(4) == 0 {
		d.patience = d.longest * time.Duration(1+rng.IntN(20)) / 10
		cfg.Patience = d.patience
	}
	if d.free && rng.IntN(6) == 0 {
		cfg.Window = d.longest / 2
	}
	d.urgent = d.free && rng.IntN(8) == 0
	s, err := sched.New(cfg, epoch, rng.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	d.world = &world{Scheduler: s, now: epoch}
	if rng.IntN(2) == 0 {
		s.LookRarely()
	}
	for i, cpus := range d.nodes {
		s.Join(fmt.Sprint("n", i), cluster.Amounts{"cpu": cpus}, epoch)
	}
	d.drawVictim()
	d.comes = epoch.Add(time.Duration(rng.Int64N(int64(2 * d.longest))))
	return d
}

// tree draws pools, and computes the part to which the first leaf is entitled.
func (d *duel) tree() share.Pool {
	root := share.Pool{Policy: d.policy()}
	d.policies, d.part = root.Policy, 1
	for i := range 2 + d.rng.IntN(3) {
		g := share.Pool{Name: fmt.Sprint("g", i), Weight: float64(1 + d.rng.IntN(3))}
		if d.rng.IntN(2) == 0 {
			g.Policy = d.policy()
			d.policies += " " + g.Policy
			for k := range 1 + d.rng.IntN(2) {
				g.Pools = append(g.Pools, share.Pool{Name: fmt.Sprint("p", k), Weight: float64(1 + d.rng.IntN(3))})
				d.pools = append(d.pools, fmt.Sprintf("g%d/p%d", i, k))
			}
		} else {
			d.pools = append(d.pools, g.Name)
		}
		root.Pools = append(root.Pools, g)
	}
	d.weigh(&root)
	for i := range root.Pools {
		if g := &root.Pools[i]; len(g.Pools) > 0 {
			part := d.part
			if d.weigh(g); i > 0 {
				d.part = part
			}
		}
	}
	if d.free && d.rng.IntN(4) == 0 {
		d.limitPool(&root.Pools[0])
	}
	return root
}

// policy draws the policy of a pool.
func (d *duel) policy() string {
	if d.fifo {
		return "fifo"
	}
	if d.free && d.rng.IntN(2) == 0 {
		return oneOf(d.rng, "fifo", "lottery", "decay", "load")
	}
	return oneOf(d.rng, remembering...)
}

// weigh computes the part of a pool to which its first child is entitled.
func (d *duel) weigh(above *share.Pool) {
	sum := 0.0
	for i := range above.Pools {
		p := &above.Pools[i]
		if above.Policy == "decay" && !d.free {
			p.Weight = 1
		}
		sum += p.Weight
	}
	above.Options.Decay.HalfLife = d.free
	d.drawn = d.drawn || above.Policy == "lottery"
	d.arrival = d.arrival || above.Policy == "fifo"
	d.part *= above.Pools[0].Weight / sum
}

// limitPool gives a pool on the way to the victim a maximum.
func (d *duel) limitPool(p *share.Pool) {
	d.most = 1 + d.rng.Int64N(slices.Max(d.nodes))
	p.Max = map[string]int64{"cpu": d.most}
}

// owes reports whether a policy of the tree also counts work that only licenses keep from starting.
func (d *duel) owes() bool {
	return strings.Contains(d.policies, "deficit") || strings.Contains(d.policies, "load")
}

// drawVictim draws a job that fits on the empty machine: wide, a gang, with licenses, or all of these.
func (d *duel) drawVictim() {
	for {
		d.want = sched.Request{Amounts: cluster.Amounts{"cpu": 1 + d.rng.Int64N(slices.Max(d.nodes))}}
		if d.rng.IntN(2) == 0 {
			d.want.Amounts["cpu"] = slices.Max(d.nodes)
		}
		tasks := int64(1)
		if d.rng.IntN(3) == 0 {
			d.want.Gang = 2 + d.rng.IntN(6)
			d.want.Spread, tasks = d.rng.IntN(2) == 0, int64(d.want.Gang)
		}
		if d.rng.IntN(3) == 0 && d.licenses >= tasks && (d.free || !d.owes()) {
			d.want.Licenses = map[string]int64{"lic": 1 + d.rng.Int64N(d.licenses/tasks)}
		}
		if d.most > 0 && tasks*d.want.Amounts["cpu"] > d.most {
			continue
		}
		if d.Cluster().Empty().Could(d.KeyOf(d.want)) {
			return
		}
	}
}

// submit adds a job of the given length. A loose limit is twice that length, but at most "longest".
func (d *duel) submit(pool string, ask sched.Request, length time.Duration, alike uint32) int64 {
	d.last++
	length = max(time.Second, min(length, d.longest))
	d.lengths[d.last] = length
	loose := min(2*length, d.longest)
	mixed := loose * time.Duration(d.last%2)
	limit := map[string]time.Duration{"exact": length, "loose": loose, "mixed": mixed}[d.limits]
	priority := normal
	if d.urgent && d.last != d.victim && d.rng.IntN(2) == 0 {
		priority--
	}
	j := sched.Job{ID: d.last, Pool: d.Pool(pool), Key: d.KeyOf(ask), Priority: priority, Tasks: max(1, ask.Gang),
		Limit: limit, Alike: alike, Submitted: d.now}
	d.Add(j, d.now)
	d.recent = append(d.recent[max(0, len(d.recent)-8):], j)
	return d.last
}

// step starts all tasks that can start now.
func (d *duel) step() {
	for d.d.More = true; d.d.More; {
		d.Step(d.now, 0, &d.d)
		for _, st := range d.d.Starts {
			if st.Job == d.victim {
				d.started = true
				return
			}
			d.runs = append(d.runs, duelRun{st.Run, d.now.Add(d.lengths[st.Job]), 1})
			d.waiting--
		}
	}
}

// pass lets time pass until a task ends, the victim is submitted, a burst begins, or the scheduler asks for a step.
func (d *duel) pass() {
	next := d.now.Add(d.longest)
	for _, at := range []time.Time{d.d.Next, d.comes, d.now.Add(d.burst)} {
		if at.After(d.now) && at.Before(next) {
			next = at
		}
	}
	for _, r := range d.runs {
		if r.ends.Before(next) {
			next = r.ends
		}
	}
	d.burst -= next.Sub(d.now)
	d.now = next
	d.runs = slices.DeleteFunc(d.runs, func(r duelRun) bool {
		if r.ends.After(d.now) {
			return false
		}
		d.Finish(r.id, d.now, true)
		return true
	})
}
