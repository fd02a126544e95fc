package policy

import (
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/usage"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// fairPolicy, the default, serves the child first that has received the least service for its weight, including running
// tasks:
//
//	key = joined + (served + expected) / weight        smallest first
//
// Here "served" is the service received since the child joined the comparison, decayed, in slot-seconds; a running task
// counts with the service that it has received so far. The term "expected" is the service that the running tasks will
// probably still receive: for each task its width times the mean length of past tasks of its leaf pool. The term
// "joined" is the level at which the child entered.
//
// The level of a child is joined + served / weight. A child that comes back after an absence enters at the lowest level
// among the children that could start a task next. So absence earns no credit (as in start-time fair queueing; Goyal,
// Vin and Cheng, SIGCOMM 1996). The level counts received service only, not expected service. Among pools with equal
// keys, the pool with the larger weight goes first, then the older pool.
//
// Example: weights a 1, b 3, tasks of 10 s, all waiting from the start, four slots. The keys are 0 and 0: b starts
// first, by weight. Then b expects 10, so its key is 10/3 = 3.33 against 0: a starts. Then a has 10 against 3.33, and
// then 10 against 6.67: b starts twice. Now a has one slot and b three, and both keys are 10.
type fairPolicy struct{}

var fair = why.NewFormula("fair", "joined + (served + expected) / weight", "smallest first",
	why.Term{Name: "joined", Unit: "slot-seconds per weight", Doc: "where it entered the comparison: what the others had received for their weight"},
	why.Term{Name: "served", Unit: "slot-seconds", Doc: "service received since, decayed, running tasks so far included"},
	why.Term{Name: "expected", Unit: "slot-seconds", Doc: "what its running tasks are expected to receive yet"},
	why.Term{Name: "weight", Doc: "its weight among its siblings"},
)

// Indices into Pool.Own.
const (
	joined = iota
	base   // service at the time of joining
)

// Formula implements sched.Policy.
func (fairPolicy) Formula() *why.Formula { return fair }

// Terms implements sched.Keyed.
func (fairPolicy) Terms(p *sched.Pool, at sched.Setting) why.Terms {
	t := why.Terms{Formula: fair, Tie: -p.Weight}
	t.Values[0] = p.Own[joined]
	t.Values[1] = p.Service(at.Now) - p.Own[base]
	t.Values[2] = float64(p.Flight * at.Growth)
	t.Values[3] = p.Weight
	t.Key = t.Values[0] + float64((t.Values[1]+t.Values[2])/t.Values[3])
	return t
}

// Level implements sched.Carrier.
func (fairPolicy) Level(p *sched.Pool, now usage.Now) float64 {
	return p.Own[joined] + (p.Service(now)-p.Own[base])/p.Weight
}

// Carry implements sched.Carrier.
func (fairPolicy) Carry(p *sched.Pool, level float64, now usage.Now) {
	p.Own[joined], p.Own[base] = level, p.Service(now)
}

// Recompute implements replay.Rule.
func (fairPolicy) Recompute(c *replay.Choice) replay.Standing {
	p := c.Child
	values := [why.MaxTerms]float64{p.Own[0], c.Service(p) - p.Own[1], float64(p.Flight * c.Growth), p.Weight}
	return replay.Standing{Values: values, Tie: -p.Weight}
}

var (
	_ sched.Carrier = fairPolicy{}
	_ replay.Rule   = fairPolicy{}
)
