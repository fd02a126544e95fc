package web

import (
	"slices"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// wholeChunk is the number of jobs that are read from the store at a time for a whole list.
const wholeChunk = 500

// scan reads the jobs of a query by number, some at a time, so that no call holds the store long. It calls the
// function "each" with the jobs that pass the filter, and with the number of the last job that it read, until
// the function returns false.
func (f *finder) scan(q queue.Query, each func(passed []api.Job, last int64) (bool, error)) error {
	q.Limit = wholeChunk
	for {
		list, err := f.look(q)
		if err != nil {
			return err
		}
		f.list = list
		more, last := list.More && len(list.Jobs) > 0, int64(0)
		if len(list.Jobs) > 0 {
			last = list.Jobs[len(list.Jobs)-1].ID
		}
		list.Jobs = slices.DeleteFunc(list.Jobs, func(j api.Job) bool { return !f.filter.passes(&j) })
		if on, err := each(list.Jobs, last); err != nil || !on || !more {
			return err
		}
		if q.Newest {
			q.Before = last
		} else {
			q.After = last
		}
	}
}
