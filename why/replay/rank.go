package replay

import "github.com/fairlead/fairlead/why"

// rankOf returns a job's priority under the policy multifactor, by the text of the formula.
func (j *job) rankOf() float64 {
	if len(j.Terms) != len(rankFormula.Terms) {
		return 0
	}
	return rankFormula.Eval(j.values())
}

// rankFormula is a copy of the formula of the policy multifactor, for the jobs of a leaf. Between pools the
// replay uses the formula in the answer.
var rankFormula = why.NewFormula("multifactor", "age + fairshare + size + pool + qos + assoc + tres + site - nice",
	why.LargestFirst, why.Term{Name: "age"}, why.Term{Name: "fairshare"}, why.Term{Name: "size"}, why.Term{Name: "pool"},
	why.Term{Name: "qos"}, why.Term{Name: "assoc"}, why.Term{Name: "tres"}, why.Term{Name: "site"}, why.Term{Name: "nice"})

func (j *job) values() []float64 {
	values := make([]float64, len(j.Terms))
	for i, x := range j.Terms {
		values[i] = float64(x)
	}
	return values
}

// ahead reports whether the job goes before another: by priority, and between equals by the smaller number.
func (j *job) ahead(of *job) bool {
	if of == nil {
		return true
	}
	if a, b := j.rankOf(), of.rankOf(); a != b {
		return a > b
	}
	return j.ID < of.ID
}

// headByRank returns the next job of a leaf whose jobs have priorities.
func (p *pool) headByRank() *job {
	var best *job
	for i := range p.jobs {
		if j := &p.jobs[i]; j.startable() && j.ahead(best) {
			best = j
		}
	}
	return best
}
