package sched

// Held is what a task holds while it runs and of which there is only so much, whoever
// starts it: licences, and what the pools above it may have at once.
type Held struct {
	Of     string // e.g. license matlab, max_running of physics
	Amount int64
	Most   int64 // that all who run may hold together
}

// HeldBy is what a task holds, as the limits are now. Where several schedulers start
// tasks at the same moment, each within the limits, whoever sees all of them has to check it.
func (s *Scheduler) HeldBy(id RunID) (out []Held) {
	r := s.run(id)
	if t := s.toll(r.shape); t != nil {
		for _, need := range t.licenses {
			l := &s.licenses[need.license]
			out = append(out, Held{l.of, need.n, l.total})
		}
	}
	request := s.cluster.Request(r.shape)
	for at := r.pool; at >= 0; at = s.pools[at].parent {
		if l := s.limits(at); l != nil {
			out = l.held(out, request)
		}
	}
	return out
}

// held adds what a task holds of the maxima of a pool.
func (l *limit) held(out []Held, request []int64) []Held {
	if l.tasks > 0 {
		out = append(out, Held{l.names.tasks, 1, int64(l.tasks)})
	}
	for r, n := range request {
		if r < len(l.max) && l.max[r] >= 0 && n > 0 {
			out = append(out, Held{l.names.max[r], n, l.max[r]})
		}
	}
	return out
}
