package policy

import (
	"math"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// Deficit serves the child first that is owed the most (HADOOP-3746): the one
// whose received service is the farthest behind what an ideal scheduler would have given
// it since it came.
//
//	key = (received - ideal) / capacity        smallest first
//
// The ideal scheduler divides, at every instant and infinitely finely, what there is by
// the weights of the children that have something to run; none gets less than its minimum
// or more than its maximum and than it can use. At the root it divides the whole cluster,
// and in a pool what the pool has. Deficits are computed exactly, by events: between two of
// them they grow linearly. They do not decay. A child that has nothing to run any more is
// forgotten, and begins at 0 when it comes back.
//
// Each resource has deficits of its own: a child is compared in the dominant
// resource of its next task (map and reduce slots, in the source). Where there is room for
// tasks of one resource only, this one decides. Divided by what there is of it, the key is
// in seconds of the whole cluster.
//
// Children below their minimum go before all others, among themselves by deficit.
//
// A deficit may grow large while a child can start nothing, because tasks are long or its
// requests do not fit: then it takes everything that becomes free until it is paid. The
// policy fair avoids such bursts.
//
// Example: four slots, all idle. j1 has waited for 100 ms when j2 comes: j1 is owed 0.4
// slot-seconds, and takes all four slots. 200 ms later it was entitled to two slots and had
// four: it is owed 0.4 - 0.4 = 0, and j2 0.4. All tasks end now: j2 takes all four.
type Deficit struct{}

var deficit = why.NewFormula("deficit", "(received - ideal) / capacity", "smallest first",
	why.Term{Name: "received", Unit: "undecayed slot-seconds", Doc: "service received since it came, running tasks so far included"},
	why.Term{Name: "ideal", Unit: "undecayed slot-seconds", Doc: "service that an ideal scheduler would have given it since"},
	why.Term{Name: "capacity", Unit: "slots", Doc: "what the cluster has of the resource of which its next task takes most"},
).Phrased("{ideal - received|lacks # slot-seconds|had # slot-seconds too much}",
	"{(ideal - received) / capacity|lacks # s of the cluster|had # s of the cluster too much}")

// Formula implements sched.Policy.
func (Deficit) Formula() *why.Formula { return deficit }

// Terms implements sched.Keyed.
func (Deficit) Terms(p *sched.Pool, at sched.Setting) why.Terms {
	t := why.Terms{Formula: deficit, Tie: -p.Weight}
	received, ideal, capacity := at.Owed(p)
	t.Values[0], t.Values[1], t.Values[2] = received, ideal, capacity
	t.Key = float64(received-ideal) / capacity
	t.Fixed, _ = at.Still(p)
	return t
}

// Drift implements sched.Drifter: what children of the same weight are owed grows alike,
// unless they have all that they can use.
func (Deficit) Drift(p *sched.Pool, at sched.Setting) [2]float64 {
	_, drift := at.Still(p)
	return drift
}

// Owes implements sched.DeficitPolicy.
func (Deficit) Owes() {}

// Recompute implements replay.Rule. The deficit that counts is that of the first resource that dominates
// a task in the child. Received and ideal service are large sums, and so are rounded.
func (Deficit) Recompute(c *replay.Choice) replay.Standing {
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
	_ sched.DeficitPolicy = Deficit{}
	_ replay.Rule         = Deficit{}
)
