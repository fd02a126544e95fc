package beanstalkd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/mq"
)

// index is what was found out about a range of numbers. No job gets a number of it any more,
// so that what is not in it is not there.
type index struct {
	mu        sync.Mutex // held while numbers are searched
	low, high uint64     // searched are those from low up to, and without, high
	marks     time.Time  // time of the mark at low; zero: none is there
	ids       map[string]uint64
	// floors are numbers that were given before a marker was sent, by this process.
	floors sync.Map
}

// reset forgets all: another connection may be to another server.
func (x *index) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clear()
}

func (x *index) clear() {
	x.low, x.high, x.marks = 0, 0, time.Time{}
	clear(x.ids)
}

// errBusy says that an earlier connection of the bridge is not closed yet.
var errBusy = errors.New("an earlier connection of a bridge to this tube is open still: what it sent may yet arrive")

// quiet makes sure that nothing can arrive any more of what earlier connections sent, and
// returns a number that is larger than all that they were given.
func (q *Queue) quiet(ctx context.Context) (uint64, error) {
	q.order.Lock()
	defer q.order.Unlock()
	s, err := q.open(ctx)
	if err != nil {
		return 0, err
	}
	defer s.within(ctx)()
	stats, err := beanstalk.NewTube(s.Conn, q.options.tube("session")).Stats()
	if s.check(err) != nil {
		return 0, fmt.Errorf("ask for sessions: %w", err)
	}
	if n := stats["current-watching"]; n != "1" {
		return 0, errBusy
	}
	probe, err := beanstalk.NewTube(s.Conn, q.options.tube("probe")).Put([]byte("{}"), 0, forever, q.options.TTR)
	if s.check(err) != nil {
		return 0, fmt.Errorf("probe: %w", err)
	}
	s.last = probe
	return probe, s.check(s.Delete(probe))
}

// search finds the numbers of entries that have none. What is not in the answer is not there.
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

// enough reports whether entries can only be in what was searched already. Of clocks it is
// taken that they are never wrong by a day.
func (x *index) enough(all []bridge.Entry) bool {
	for _, e := range all {
		_, found := x.ids[e.Marker]
		floor, ours := x.floors.Load(e.Marker)
		before := !x.marks.IsZero() && !e.Submitted.IsZero() && x.marks.Before(e.Submitted.Add(-24*time.Hour))
		if !found && !before && (!ours || x.low > floor.(uint64)) {
			return false
		}
	}
	return true
}

// chunk is how many numbers are asked for at once.
const chunk = 1024

// read reads the jobs with the numbers from low up to, and without, high. It returns the time
// of the oldest mark among them.
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

// parallel calls f with the numbers from 0 to n, so many at once that the way to the server
// and back is not waited for each time.
func parallel(n int, f func(i int) error) error {
	const width = 64
	var wg sync.WaitGroup
	errs := make([]error, min(width, n))
	for k := range errs {
		wg.Go(func() {
			for i := k; i < n && errs[k] == nil; i += width {
				errs[k] = f(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// identity reads the marker of a job, "" if there is none of that number, or it is not ours.
func (q *Queue) identity(l *link, id uint64) (string, error) {
	if marker, ok := l.known.Load(id); ok {
		return marker.(string), nil
	}
	body, err := l.Peek(id)
	if errors.Is(err, beanstalk.ErrNotFound) {
		return "", nil
	}
	if l.check(err) != nil {
		return "", fmt.Errorf("look at job %d: %w", id, err)
	}
	task, err := mq.ReadTask(body)
	if err != nil {
		return "", nil
	}
	l.known.Store(id, task.Marker)
	return task.Marker, nil
}

func text(id uint64) string { return strconv.FormatUint(id, 10) }
