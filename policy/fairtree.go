package policy

import (
	"math"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/replay"
)

// Fairtree serves the child first that used the least for its share (Slurm, "Fair Tree Fairshare Algorithm"; Cox
// and Morrison, Brigham Young University, 2014):
//
//	level_fs = S / U        largest first
//
// S is the child's fraction of all its siblings' weights, U its fraction of their decayed usage; a running task
// counts with its service so far. If the weight is 0, level_fs is 0, whatever the usage; otherwise, if the usage is
// 0, level_fs is infinite. The siblings' sums are the same for all of them, so
//
//	key = served / weight        smallest first
//
// gives the same order, and compares ties exactly. Children of tied accounts are served as if they had one parent,
// as documented; with compat slurm the first of the accounts goes first, as in Slurm's program. Of tied users and
// accounts, users go first.
//
// Example: weights a 1, b 2; served a 1000, b 1500. The keys are 1000 and 750: b goes first. In Slurm's words S is 1/3
// and 2/3, U is 0.4 and 0.6, level_fs 0.833 and 1.111.
type Fairtree struct{ slurm bool }

var fairtree = why.NewFormula("fairtree", "served / weight", "smallest first",
	why.Term{Name: "served", Unit: "slot-seconds", Doc: "service received, decayed, running tasks so far included"},
	why.Term{Name: "weight", Doc: "its weight among its siblings"},
	why.Term{Name: "level_fs", Doc: "(weight / weights of the siblings) / (served / served of the siblings), in Slurm's words S / U"},
).Phrased("", "use per weight {key}").
	TiedBy("users go before accounts")

// Formula implements sched.Policy.
func (Fairtree) Formula() *why.Formula { return fairtree }

// Terms implements sched.Keyed.
func (Fairtree) Terms(p *sched.Pool, at sched.Setting) why.Terms {
	t := why.Terms{Formula: fairtree}
	served := p.Service(at.Now)
	t.Values[0], t.Values[1] = served, p.Weight
	t.Values[2] = LevelFS(p.Weight, at.Weights, served, at.Above.Service(at.Now))
	t.Key = math.Inf(1)
	if p.Weight > 0 {
		t.Key = served / p.Weight
	}
	if p.Divides() {
		t.Tie = 1
	}
	return t
}

// LevelFS is S / U in Slurm's words: above 1 if a child used less than its share of its siblings' usage, below 1 if
// it used more.
func LevelFS(weight, weights, used, usedByAll float64) float64 {
	switch {
	case weight == 0:
		return 0
	case used <= 0 || usedByAll <= 0:
		return math.Inf(1)
	}
	return (weight / weights) / (used / usedByAll)
}

// Zero implements sched.Zeroer.
func (Fairtree) Zero() {}

// Merges implements sched.Merger.
func (f Fairtree) Merges() bool { return !f.slurm }

// Recompute implements replay.Rule. Package replay itself compares the children of tied children.
func (Fairtree) Recompute(c *replay.Choice) replay.Standing {
	s := replay.Standing{Values: [why.MaxTerms]float64{c.Service(c.Child), c.Child.Weight}}
	if c.Child.Divides {
		s.Tie = 1
	}
	return s
}

var (
	_ sched.Merger = Fairtree{}
	_ replay.Rule  = Fairtree{}
)
