package web

import (
	"slices"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// wholeChunk is the number of jobs that are read from the store at a time for a whole list.
const wholeChunk = 500

// scan reads the jobs of a query by number, some at a time, so that no call holds the store long. It calls each with
// the jobs that pass the filter and the number of the last job that it read, until each returns false.
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

// maxCounted is the number of jobs up to which a page counts the jobs that match.
const maxCounted = 2000

// matches counts the jobs that match. It returns 0 if the count would take long.
func (f *finder) matches() (n int, err error) {
	q, read := f.filter.Query, 0
	q.Newest, q.After, q.Before = false, 0, 0
	err = f.scan(q, func(jobs []api.Job, _ int64) (bool, error) {
		n += len(jobs)
		read += wholeChunk
		return read <= maxCounted, nil
	})
	if read > maxCounted {
		return 0, err
	}
	return n, err
}
