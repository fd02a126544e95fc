package web

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// maxCounted is the number of jobs up to which a page counts the jobs that match.
const maxCounted = 2000

// matches counts the jobs that match. It returns 0 if the count would take long.
func (q *Queue) matches(find *finder, now time.Time) (n int, err error) {
	key := strings.Join([]string{q.Tab, q.Filter.Text, q.Filter.Query.User}, "\x00")
	if find.src.long.has(key, now) {
		return 0, nil
	}
	ask, read := find.filter.Query, 0
	ask.Newest, ask.After, ask.Before = false, 0, 0
	err = find.scan(ask, func(jobs []api.Job, _ int64) (bool, error) {
		n += len(jobs)
		read += wholeChunk
		return read <= maxCounted, nil
	})
	if err == nil && read > maxCounted {
		n = 0
		find.src.long.add(key, now)
	}
	return n, err
}
