package queue

import (
	"cmp"
	"slices"
)

// LastEnd returns the task that says how a job ended: the task that ended last or, if tasks failed, the task that
// failed last. A task that waits for another attempt counts by its last attempt.
func LastEnd(tasks []Task) (Task, bool) {
	ended := slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool { return t.Ended.IsZero() })
	if len(ended) == 0 {
		return Task{}, false
	}
	return slices.MaxFunc(ended, func(a, b Task) int {
		return cmp.Or(failed(a)-failed(b), a.Ended.Compare(b.Ended), cmp.Compare(b.Index, a.Index))
	}), true
}

func failed(t Task) int {
	if t.Outcome.State == Failed {
		return 1
	}
	return 0
}
