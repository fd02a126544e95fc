package beanstalkd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// search finds the numbers of entries that have none. Entries that are missing in the answer do not exist.
func (q *Queue) search(ctx context.Context, l *link, all []bridge.Entry) (map[string]uint64, error) {
	q.index.mu.Lock()
	defer q.index.mu.Unlock()
	high, err := q.quiet(ctx)
	if err != nil {
		return nil, err
	}
	x := &q.index
	if x.high == 0 || high < x.high {
		x.clear()
		x.low, x.high = high, high
	}
	for at := x.high; at < high; at = x.high {
		x.high = min(at+chunk, high)
		if _, err := q.read(l, at, x.high); err != nil {
			x.high = at
			return nil, err
		}
	}
	for x.low > 1 && ctx.Err() == nil && !x.enough(all) {
		from := max(1, x.low-min(chunk, x.low))
		marks, err := q.read(l, from, x.low)
		if err != nil {
			return nil, err
		}
		x.low = from
		if !marks.IsZero() {
			x.marks = marks
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("look through the jobs of beanstalkd, from %d down: %w", x.low, err)
	}
	found := map[string]uint64{}
	for _, e := range all {
		if id, ok := x.ids[e.Marker]; ok {
			found[e.Marker] = id
		}
	}
	return found, nil
}

// chunk is how many numbers one read covers.
const chunk = 1024

// read reads the jobs with the numbers from low up to, but not including, high. It returns the time of the oldest mark
// among them.
func (q *Queue) read(l *link, low, high uint64) (marks time.Time, err error) {
	bodies := make([][]byte, high-low)
	err = parallel(len(bodies), func(i int) error {
		body, err := l.Peek(low + uint64(i))
		bodies[i] = body
		if errors.Is(err, beanstalk.ErrNotFound) {
			return nil
		}
		return l.check(err)
	})
	if err != nil {
		return marks, fmt.Errorf("look through the jobs of beanstalkd: %w", err)
	}
	for i, body := range bodies {
		var m mark
		if task, err := mq.ReadTask(body); err == nil {
			q.index.ids[task.Marker] = low + uint64(i)
		} else if json.Unmarshal(body, &m) == nil && !m.Mark.IsZero() && marks.IsZero() {
			marks = m.Mark
		}
	}
	return marks, nil
}

// named returns the entries, with their numbers if they exist.
func (q *Queue) named(ctx context.Context, l *link, all []bridge.Entry) ([]bridge.Entry, error) {
	var lost []bridge.Entry
	for _, e := range all {
		if e.ID == "" {
			lost = append(lost, e)
		}
	}
	if len(lost) == 0 {
		return all, nil
	}
	ids, err := q.search(ctx, l, lost)
	all = append([]bridge.Entry{}, all...)
	for i := range all {
		if id, ok := ids[all[i].Marker]; ok && all[i].ID == "" {
			all[i].ID = text(id)
		}
	}
	return all, err
}
