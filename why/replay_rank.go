package why

// rankOf is a job's place under the policy multifactor: its key, by the formula's text.
func (j *JobEvidence) rankOf() float64 {
	if len(j.Terms) != len(rankFormula.Terms) {
		return 0
	}
	return rankFormula.Eval(j.values())
}

// rankFormula orders the jobs of a leaf; between pools, that of the answer does.
var rankFormula = newRankFormula()

func newRankFormula() *Formula {
	var terms []Term
	for _, name := range formulaNames["multifactor"] {
		terms = append(terms, Term{Name: name})
	}
	return NewFormula("multifactor", "nice - (age + fairshare + size + pool + qos + assoc + tres + site)", "smallest first", terms...)
}

func (j *JobEvidence) values() []float64 {
	values := make([]float64, len(j.Terms))
	for i, x := range j.Terms {
		values[i] = float64(x)
	}
	return values
}

// ahead reports whether the job goes before another by priority, of equals the smaller.
func (j *JobEvidence) ahead(of *JobEvidence) bool {
	if of == nil {
		return true
	}
	if a, b := j.rankOf(), of.rankOf(); a != b {
		return a < b
	}
	return j.ID < of.ID
}

// headByRank is the job of a leaf that starts next where each has a priority.
func (p *replayPool) headByRank() *JobEvidence {
	var best *JobEvidence
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.startable() && j.ahead(best) {
			best = j
		}
	}
	return best
}

// rankTerms are the terms of the first job in and below a pool, and its number, which
// decides where keys are equal.
func (r *replay) rankTerms(i int) (values []float64, tie float64) {
	if j := r.firstByRank(i); j != nil {
		return j.values(), float64(j.ID)
	}
	return make([]float64, len(formulaNames["multifactor"])), 0
}

// firstByRank is the first job in and below a pool that may start. In a leaf that serves
// its jobs otherwise, those that are first of their line count.
func (r *replay) firstByRank(i int) *JobEvidence {
	p := &r.pools[i]
	var best *JobEvidence
	for k := range p.Jobs {
		if j := &p.Jobs[k]; j.startable() && j.ahead(best) {
			best = j
		}
	}
	for _, k := range p.kids {
		if !r.open(k) {
			continue
		}
		if j := r.firstByRank(k); j != nil && j.ahead(best) {
			best = j
		}
	}
	return best
}
