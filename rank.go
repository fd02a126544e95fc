package fairlead

import "github.com/fairlead/fairlead/sched"

// rank finds the job's place in the order of the next starts, by a preview of at most so many.
func (l *Loop) rank(j sched.Job, most int64) *place {
	jobs := map[int64]bool{}
	t := l.tally(j)
	found, n := false, int64(0)
	l.core.Preview(func(s sched.Start, units float64) bool {
		n++
		if found = s.Job == j.ID; found {
			return false
		}
		t.add(s.Pool, !jobs[s.Job], units, l.core.Path)
		jobs[s.Job] = true
		return n < most
	})
	if !found && n < most { // it cannot start, even with all the room there is
		return &place{}
	}
	return t.close(found)
}
