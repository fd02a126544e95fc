package server

import (
	"maps"

	"github.com/fairlead/fairlead/queue"
)

// byTask holds something about tasks, by job and task. Jobs without such tasks have no entry.
type byTask[T any] map[int64]map[int]T

// put records something about a task.
func (m *byTask[T]) put(job int64, task int, x T) {
	if *m == nil {
		*m = byTask[T]{}
	}
	of := (*m)[job]
	if of == nil {
		of = map[int]T{}
		(*m)[job] = of
	}
	of[task] = x
}

// drop forgets attempts that are over, and earlier attempts. The function "attempt" returns the attempt that an entry
// is about.
func (m byTask[T]) drop(refs []queue.Ref, attempt func(T) int) {
	for _, r := range refs {
		if of := m[r.JobID]; of != nil && attempt(of[r.Task]) <= r.Attempt {
			delete(of, r.Task)
			m.tidy(r.JobID)
		}
	}
}

// dropIf forgets the entries that match.
func (m byTask[T]) dropIf(match func(T) bool) {
	for id, of := range m {
		maps.DeleteFunc(of, func(_ int, x T) bool { return match(x) })
		m.tidy(id)
	}
}

// tidy removes a job without entries.
func (m byTask[T]) tidy(job int64) {
	if len(m[job]) == 0 {
		delete(m, job)
	}
}
