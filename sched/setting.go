package sched

import "github.com/fairlead/fairlead/usage"

// Setting has the numbers that a comparison of children needs besides those of the children.
type Setting struct {
	usage.Now                    // the instant, in the units of the clock
	Seconds    float64           // time since the scheduler was created, undecayed
	Weights    float64           // sum over the children that count for shares
	Capacity   float64           // units of the cluster, or their charge by [Charge]
	MeanLife   float64           // total seconds that a slot-second counts for: half-life / ln 2; 0 without decay
	Unix       float64           // the instant in seconds since 1970
	Above      *Pool             // the pool that divides
	Top        bool              // Above is the root
	main       int8              // resource whose deficit is compared, from 1; 0: the resource of the child
	Open       float64           // sum of the weights of the children with work that may start
	debts      []*usage.Deficits // by dominant resource
	capacities []float64         // of these resources
	Loans      float64           // slots of children above their targets, plus free slots; under an [Allotter]
	held       *holdings         // by the children, under a [Holding] policy
	Days       usage.Diaries     // service by days, see [Pool.Days]
}

// Owed returns the received and the ideal service of a child, in the resource that it is compared in, and the
// capacity of that resource.
func (at *Setting) Owed(child *Pool) (received, ideal, capacity float64) {
	return at.owedIn(child, at.mainOf(child))
}

// mainOf is the index of the dominant resource that a child is compared in.
func (at *Setting) mainOf(child *Pool) int {
	if at.main > 0 {
		return int(at.main) - 1
	}
	return int(child.seat.dominant)
}

func (at *Setting) owedIn(child *Pool, m int) (received, ideal, capacity float64) {
	if m >= len(at.debts) {
		return 0, 0, 1
	}
	capacity = 1
	if m < len(at.capacities) {
		capacity = max(1, at.capacities[m])
	}
	d := at.debts[m]
	return d.Received(int(child.seat.kid)), d.Ideal(int(child.seat.kid)), capacity
}

// Still splits the received less the ideal service of a child: it returns the part that does not fall, and
// the drift of the rest.
func (at *Setting) Still(child *Pool) (still float64, drift [2]float64) {
	m := at.mainOf(child)
	if m >= len(at.debts) {
		return 0, drift
	}
	d := at.debts[m]
	return d.Still(int(child.seat.kid)), [2]float64{d.Drift(int(child.seat.kid)), float64(m)}
}

// Dominant returns the dominant resource of the child's running tasks. It leaves out a resource if no node
// that takes tasks has it, because no other child could use that resource.
func (at *Setting) Dominant(child *Pool) dominant {
	d := dominant{Total: 1}
	if at.held == nil || int(child.seat.kid) >= len(at.held.turns) {
		return d
	}
	h := at.held
	d.Turn = h.turns[child.seat.kid]
	row, most := h.row(int(child.seat.kid)), 0.0
	for r := range min(len(row), len(h.totals)) {
		if row[r] == 0 || h.totals[r] == 0 {
			continue
		}
		if part := float64(row[r]) / h.totals[r]; part > most {
			most = part
			d.Used, d.Total, d.Resource = float64(row[r]), h.totals[r], int32(r)+1
		}
	}
	return d
}

// Share is the share of a child with a weight.
func (at *Setting) Share(weight float64) float64 {
	if at.Weights == 0 {
		return 0
	}
	return weight / at.Weights
}
