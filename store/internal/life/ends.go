package life

import (
	"cmp"
	"slices"

	"github.com/fairlead/fairlead/queue"
)

// LastEnd returns the task that says how a job ended: of those whose last attempt has ended, the one that ended last; if
// an attempt failed, the last of those that failed.
func LastEnd(tasks []queue.Task) (queue.Task, bool) {
	ended := slices.DeleteFunc(slices.Clone(tasks), func(t queue.Task) bool { return t.Ended.IsZero() })
	if len(ended) == 0 {
		return queue.Task{}, false
	}
	return slices.MaxFunc(ended, func(a, b queue.Task) int {
		return cmp.Or(failed(a)-failed(b), a.Ended.Compare(b.Ended), cmp.Compare(b.Index, a.Index))
	}), true
}

func failed(t queue.Task) int {
	if t.Outcome.State == queue.Failed {
		return 1
	}
	return 0
}
