package sim

import "github.com/fairlead/fairlead/sched"

// end is the end of a running job.
type end struct {
	at  int64
	job int32
	run sched.RunID
}

// before orders ends by time, and within a second by the order of submission, so that a simulation is
// reproducible.
func (e *end) before(f *end) bool { return e.at < f.at || e.at == f.at && e.job < f.job }

// ends is a heap with four children per node. It is written by hand, because calls through container/heap
// would take half of the time of a simulation.
type ends []end

func (h *ends) push(e end) {
	*h = append(*h, e)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = e
}

func (h *ends) pop() end {
	s := *h
	top, e := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(s) {
			break
		}
		least := first
		for k := first + 1; k < min(first+4, len(s)); k++ {
			if s[k].before(&s[least]) {
				least = k
			}
		}
		if !s[least].before(&e) {
			break
		}
		s[i] = s[least]
		i = least
	}
	s[i] = e
	return top
}
