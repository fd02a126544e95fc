package fairlead

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/why"
)

// Examiner is a store that can say how it is kept.
type Examiner interface {
	Examine(ctx context.Context) (StoreHealth, error)
}

// StoreHealth is how a store is kept, for whoever looks after it.
type StoreHealth struct {
	Format, Known int           // of the tables: as they are, and as this program writes them
	Bytes         int64         // that it takes on disk
	Unused        float64       // fraction of it that holds nothing any more
	Log           int64         // bytes that were written ahead and are not in their place yet
	Oldest        time.Duration // for how long the oldest transaction has been open: nothing that ended since can be cleared away
	Sessions      int           // of the database that are in use
	MostSessions  int           // that it lets in; 0 is no bound
	Feed          int64         // changes that are kept for those who follow
	Reserve       bool          // there is room put aside for when the disk is full, or none is needed
}

// Stuck are jobs that wait for what time alone will not bring.
type Stuck struct {
	Code  why.Code
	Text  string // why the first of them waits
	First int64  // the oldest of them
	Jobs  int
}

// Stuck looks at the jobs that have waited longest, up to most of them, and returns those that
// cannot start as things are, by the reason; and at how many it looked.
func (l *Loop) Stuck(ctx context.Context, most int) (stuck []Stuck, looked int, err error) {
	jobs, err := l.store.Jobs(ctx, Query{States: []State{Waiting}, Limit: most})
	if err != nil {
		return nil, 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := lineReasons{l, map[waitingLine]why.Reason{}}
	for _, j := range jobs {
		if j.Running > 0 || j.Begin.After(time.Now()) {
			continue
		}
		reason := lines.reason(j)
		if v := verdictOf(reason); v != why.Impossible && v != why.NeedsAdmin {
			continue
		}
		i := slices.IndexFunc(stuck, func(s Stuck) bool { return s.Code == reason.Code })
		if i < 0 {
			i = len(stuck)
			stuck = append(stuck, Stuck{Code: reason.Code, Text: reason.Text, First: j.ID})
			if r := (ShortReason{}); lines.hopeless(j, &r) {
				stuck[i].Text = r.Text
			}
		}
		stuck[i].Jobs++
	}
	return stuck, len(jobs), nil
}
