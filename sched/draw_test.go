package sched_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// drawTree draws a tree of mixed policies with their options, minima, maxima and caps.
func drawTree(t *rapid.T) share.Pool {
	root := share.Pool{Policy: rapid.SampledFrom(policy.Names()).Draw(t, "root policy"), Options: drawOptions(t)}
	if rapid.Bool().Draw(t, "reclaim") {
		root.Reclaim = share.Reclaim{MinAfter: time.Second, ShareAfter: 2 * time.Second}
	}
	zero := policy.Zero(root.Policy)
	root.Pools = []share.Pool{drawPool(t, "a", zero, "x", "y"), drawPool(t, "b", zero, "x"), drawPool(t, "c", zero)}
	return root
}

// drawPool draws a pool with children of these names. It draws the weight 0 only if "zero" is set, because the policy
// above allows it.
func drawPool(t *rapid.T, name string, zero bool, kids ...string) share.Pool {
	least := 1
	if zero {
		least = 0
	}
	p := share.Pool{Name: name, Weight: float64(rapid.IntRange(least, 9).Draw(t, "weight"))}
	if p.Weight > 5 {
		p.Weight /= 10 // sums of these are rounded
	}
	if rapid.Bool().Draw(t, "own policy") {
		p.Policy, p.Options = rapid.SampledFrom(policy.Names()).Draw(t, "policy"), drawOptions(t)
		zero = policy.Zero(p.Policy)
	}
	drawLimits(t, &p)
	for _, kid := range kids {
		p.Pools = append(p.Pools, drawPool(t, kid, zero))
	}
	return p
}

func drawLimits(t *rapid.T, p *share.Pool) {
	if rapid.IntRange(0, 3).Draw(t, "capped") == 0 {
		p.MaxRunning = rapid.IntRange(1, 4).Draw(t, "max_running")
	}
	if rapid.IntRange(0, 3).Draw(t, "max") == 0 {
		p.Max = map[string]int64{"cpu": int64(rapid.IntRange(2, 5).Draw(t, "max cpu"))}
	}
	if rapid.IntRange(0, 3).Draw(t, "guaranteed") == 0 {
		p.Min = map[string]int64{"cpu": int64(rapid.IntRange(1, 2).Draw(t, "min cpu"))}
	}
	if rapid.IntRange(0, 7).Draw(t, "of mem") == 0 {
		p.Max = map[string]int64{"mem": int64(rapid.IntRange(2, 9).Draw(t, "max mem"))}
	}
	if rapid.IntRange(0, 7).Draw(t, "guaranteed mem") == 0 {
		p.Min = map[string]int64{"mem": int64(rapid.IntRange(1, 2).Draw(t, "min mem"))}
	}
	if rapid.IntRange(0, 4).Draw(t, "job capped") == 0 {
		p.JobRunning = 2
	}
}

func drawOptions(t *rapid.T) (o share.Options) {
	if rapid.IntRange(0, 3).Draw(t, "scoot") == 0 {
		o.Rounding = "scoot"
	}
	if rapid.IntRange(0, 3).Draw(t, "slurm") == 0 {
		o.Compat = "slurm"
	}
	if rapid.IntRange(0, 3).Draw(t, "rebalance") == 0 {
		o.Rebalance = share.Rebalance{Threshold: 20, MinDuration: time.Second}
	}
	switch rapid.IntRange(0, 3).Draw(t, "decay") {
	case 0:
		o.Decay = share.Decay{HalfLife: true}
	case 1:
		o.Decay = share.Decay{Days: 2, Factor: 0.5, ScaleByShare: true}
	}
	return o
}

// roomOf returns the resources of a node with this number of cpus.
func roomOf(cpus int64) cluster.Amounts { return cluster.Amounts{"cpu": cpus, "mem": 3 * cpus} }

// drawQuotas configures licenses, rates and the running tasks of users. A license that is no longer configured has the
// amount 0, and such a rate has no limit.
func drawQuotas(t *rapid.T, cfg *sched.Config) {
	cfg.Licenses, cfg.Rates = map[string]int64{}, map[string]sched.Rate{}
	cfg.UserRunning = rapid.IntRange(0, 3).Draw(t, "user running")
	for _, name := range []string{"ansys", "matlab"} {
		if n := rapid.Int64Range(0, 3).Draw(t, name); n > 0 {
			cfg.Licenses[name] = n
		}
	}
	for _, name := range []string{"mail", "web"} {
		if n := rapid.Int64Range(0, 3).Draw(t, name); n > 0 {
			cfg.Rates[name] = sched.Rate{Count: n, Per: rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "per"), Burst: rapid.Int64Range(0, 3).Draw(t, "burst")}
		}
	}
}

// drawRequest draws the request of a task: with some probability memory, licenses and rates.
func drawRequest(t *rapid.T) sched.Request {
	r := sched.Request{Amounts: cluster.Amounts{"cpu": int64(rapid.IntRange(1, 5).Draw(t, "cpu"))}}
	if rapid.IntRange(0, 3).Draw(t, "narrow") > 0 {
		r.Amounts["cpu"] = 1
	}
	if rapid.IntRange(0, 4).Draw(t, "mem") == 0 {
		r.Amounts["mem"] = int64(rapid.IntRange(1, 12).Draw(t, "mem amount"))
	}
	switch rapid.IntRange(0, 8).Draw(t, "limit") {
	case 0:
		r.Licenses = map[string]int64{rapid.SampledFrom([]string{"ansys", "matlab"}).Draw(t, "license"): rapid.Int64Range(1, 2).Draw(t, "licenses")}
	case 1:
		r.Rates = []string{rapid.SampledFrom([]string{"mail", "web"}).Draw(t, "rate")}
	case 2:
		r.Licenses, r.Rates = map[string]int64{"ansys": 1, "matlab": 1}, []string{"mail", "web"}
	case 3, 4:
		r.User = rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user")
	}
	return r
}

// drawCharge draws the charge of tasks, mostly by the amount of the unit that they take.
func drawCharge(t *rapid.T) sched.Charge {
	return rapid.SampledFrom([]sched.Charge{
		{}, {}, {Dominant: true},
		{Per: map[string]float64{"cpu": 1, "mem": 0.3, "gpu": 20}},
		{Per: map[string]float64{"cpu": 1, "mem": 0.7}, Largest: true},
	}).Draw(t, "charge")
}
