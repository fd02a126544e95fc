package policy

import (
	"math"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// deficitPolicy serves the child with the largest deficit first (HADOOP-3746). This is the child whose received
// service is furthest behind the service that an ideal scheduler would have given the child since it came.
//
//	key = (received - ideal) / capacity        smallest first
//
// At every instant, the ideal scheduler divides the capacity, infinitely finely, by the weights of the children
// that have something to run. No child gets less than its minimum, more than its maximum, or more than it can use.
// At the root it divides the whole cluster; in a pool it divides the slots of the pool. Deficits are computed
// exactly, by events: between two events they grow linearly. They do not decay. A child that runs out of work is
// forgotten, and begins at 0 when it comes back.
//
// Each resource has its own deficits: a child is compared in the dominant resource of its next task (map and reduce
// slots, in the source). If there is room for tasks of one resource only, that resource decides. Because the
// difference is divided by the capacity, the key is in seconds of the whole cluster.
//
// Children below their minimum go before all others, and among themselves by deficit.
//
// A deficit may grow large while a child cannot start tasks, because running tasks are long or its requests do not
// fit. The child then takes all slots that become free until its deficit is paid. The policy fair avoids such
// bursts.
//
// Example: four slots, all idle. j1 has waited for 100 ms when j2 comes: the deficit of j1 is 0.4 slot-seconds, and
// it takes all four slots. In the next 200 ms it is entitled to two slots and has four: its deficit is 0.4 - 0.4 =
// 0, and that of j2 is 0.4. All tasks end now: j2 takes all four slots.
type deficitPolicy struct{}

var deficit = why.NewFormula("deficit", "(received - ideal) / capacity", "smallest first",
	why.Term{Name: "received", Unit: "undecayed slot-seconds", Doc: "service received since it came, running tasks so far included"},
	why.Term{Name: "ideal", Unit: "undecayed slot-seconds", Doc: "service that an ideal scheduler would have given it since"},
	why.Term{Name: "capacity", Unit: "slots", Doc: "what the cluster has of the dominant resource of its next task"},
).Phrased("{ideal - received|lacks # slot-seconds|had # slot-seconds too much}",
	"{(ideal - received) / capacity|lacks # s of the cluster|had # s of the cluster too much}")

// Formula implements sched.Policy.
func (deficitPolicy) Formula() *why.Formula { return deficit }

// Terms implements sched.Keyed.
func (deficitPolicy) Terms(p *sched.Pool, at sched.Setting) why.Terms {
	t := why.Terms{Formula: deficit, Tie: -p.Weight}
	received, ideal, capacity := at.Owed(p)
	t.Values[0], t.Values[1], t.Values[2] = received, ideal, capacity
	t.Key = float64(received-ideal) / capacity
	t.Fixed, _ = at.Still(p)
	return t
}

// Drift implements sched.Drifter: the deficits of children with equal weights grow equally, unless the ideal
// scheduler gives a child just its minimum or all that it can use.
func (deficitPolicy) Drift(p *sched.Pool, at sched.Setting) [2]float64 {
	_, drift := at.Still(p)
	return drift
}

// Owes implements sched.DeficitPolicy.
func (deficitPolicy) Owes() {}

// Recompute implements replay.Rule. It uses the deficit in the first resource that dominates a task of the child.
// Received and ideal service are large sums, so they are rounded.
func (deficitPolicy) Recompute(c *replay.Choice) replay.Standing {
	s := replay.Standing{Values: [why.MaxTerms]float64{0, 0, 1}, Tie: -c.Child.Weight, Rounded: true}
	main := math.MaxInt
	for j := range c.Jobs(false) {
		main = min(main, j.Main)
	}
	if main >= len(c.Child.Owed) {
		return s
	}
	o := c.Child.Owed[main]
	s.Values = [why.MaxTerms]float64{o.Received, o.Ideal, o.Capacity}
	s.Fixed, s.Drift = o.Fixed, [2]float64{o.Drift, float64(main)}
	return s
}

var (
	_ sched.DeficitPolicy = deficitPolicy{}
	_ replay.Rule         = deficitPolicy{}
)
