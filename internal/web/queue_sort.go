package web

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fairlead/fairlead/internal/api"
)

// maxSorted is the number of jobs that a page reads to sort them; a file has all jobs in order. Tests make it smaller.
var maxSorted = 5000

// inColumns lists jobs in the order of a column. The cursor is the number of jobs on the pages before.
func (f *finder) inColumns(s *sorter, cursor string) (next string, err error) {
	from, _ := strconv.Atoi(cursor)
	ids, short, err := f.sorted(s, maxSorted)
	if err != nil {
		return "", err
	}
	f.short = short
	ids = ids[min(max(0, from), len(ids)):]
	if len(ids) > queueRows {
		ids, next = ids[:queueRows], strconv.Itoa(max(0, from)+queueRows)
	}
	return next, f.details(ids)
}

// sorted returns the jobs that match in the order of a column. It stops after `most` jobs (0: no bound), and
// reports whether there are more.
func (f *finder) sorted(s *sorter, most int) (ids []int64, short bool, err error) {
	type entry struct {
		id    int64
		value sortValue
		known bool
	}
	var all []entry
	read, tests := 0, f.filter.byCause
	f.filter.byCause = tests || s.ends
	err = f.scan(f.filter.Query, func(jobs []api.Job, _ int64) (bool, error) {
		if most > 0 && read >= most {
			short = true
			return false, nil
		}
		s.unit = f.list.Summary.Unit
		for i := range jobs {
			v, known := s.value(&jobs[i], s)
			all = append(all, entry{jobs[i].ID, v, known})
		}
		if read += wholeChunk; most == 0 {
			f.ends = nil // a file reads them again, some at a time
		}
		return true, nil
	})
	f.filter.byCause = tests
	slices.SortFunc(all, func(a, b entry) int {
		order := a.value.compare(b.value)
		if s.down {
			order = -order
		}
		if a.known != b.known {
			order = 1
			if a.known {
				order = -1
			}
		}
		return cmp.Or(order, cmp.Compare(a.id, b.id))
	})
	for _, e := range all {
		ids = append(ids, e.id)
	}
	return ids, short, err
}
