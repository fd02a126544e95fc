package demo

import "time"

// Waits compares the waits of one user's jobs in several phases. In each phase it takes the same jobs: the
// jobs that had started in all phases. If one phase has started a few jobs of a flood and another phase all
// of them, only these few are compared.
type Waits struct {
	User  string          `json:"user"`
	Jobs  int             `json:"jobs"`  // compared jobs
	Means []time.Duration `json:"means"` // by phase
}

// Compare compares the waits of all users over the phases.
func Compare(phases ...[]Run) []Waits {
	started := map[int64]int{}
	for _, runs := range phases {
		for i := range runs {
			if !runs[i].Start.IsZero() {
				started[runs[i].Job]++
			}
		}
	}
	var all []Waits
	for _, a := range Asks {
		w := Waits{User: a.User, Means: make([]time.Duration, len(phases))}
		for k, runs := range phases {
			w.Jobs = 0
			for i := range runs {
				if r := &runs[i]; r.User == a.User && started[r.Job] == len(phases) {
					w.Jobs++
					w.Means[k] += r.Start.Sub(r.Submitted)
				}
			}
			w.Means[k] /= time.Duration(max(1, w.Jobs))
		}
		all = append(all, w)
	}
	return all
}
