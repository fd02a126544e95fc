package account

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Waits describes how long tasks waited before their first starts, as [Read] counts it.
type Waits struct {
	// Since and Until are the window. If Cut is set, the window begins later than requested.
	Since, Until time.Time
	Cut          bool
	// Row is the row of all tasks.
	Row
	// Kinds are the rows by kind, for kinds with a started task.
	Kinds []Row
	// Steps counts for each step the waits up to its length and above the step before.
	Steps []int64
}

// ReadWaits sums up only waits, for pages that are refreshed often: it reads only tasks of jobs that may have
// started a task in the window. If more tasks of these jobs began than the argument "most" allows, not counting
// arrays that may start more tasks, the window begins later, so that the numbers are exact.
func ReadWaits(ctx context.Context, src Source, a Ask, steps []time.Duration, most int) (*Waits, error) {
	a.By, a.Zone = []string{"kind"}, time.UTC
	l := latest{ask: a, max: most}
	if err := each(ctx, src, a, func(j *queue.Job) error { l.add(j); return nil }); err != nil {
		return nil, err
	}
	l.trim()
	a.Since = l.ask.Since
	kinds := newSums(a)
	a.By = nil
	all := newSums(a)
	for _, j := range slices.Concat(l.open, l.over) {
		tasks, err := tasksOf(ctx, src, j)
		if err != nil {
			return nil, err
		}
		kinds.add(j, tasks)
		all.add(j, tasks)
	}
	w := &Waits{Since: a.Since, Until: a.Until, Cut: l.cut, Steps: make([]int64, len(steps))}
	if x := all.of[key{}]; x != nil {
		w.Row, w.Steps = x.close(), x.upTo(steps)
	}
	for _, r := range kinds.rows() {
		if r.Started > 0 {
			w.Kinds = append(w.Kinds, r)
		}
	}
	return w, nil
}

// latest holds the jobs that may have started the last tasks.
type latest struct {
	ask  Ask // its window begins later if there are too many tasks
	max  int
	cut  bool
	open []*queue.Job // arrays that may start more tasks: any of their tasks may have just started
	over []*queue.Job
	many int // how many tasks of over began
}

// lastStart returns an instant no earlier than any first start of a task of the job, as far as the data of
// the job alone show.
func lastStart(j *queue.Job) time.Time {
	if j.Tasks <= 1 {
		return j.Started
	}
	return j.Ended
}

func began(j *queue.Job) int { return j.Running + j.Succeeded + j.Failed + j.Cancelled }

func (l *latest) add(j *queue.Job) {
	switch {
	case j.Started.IsZero() || len(j.After) > 0:
	case j.Tasks > 1 && j.Ended.IsZero():
		l.open = append(l.open, j)
	case !lastStart(j).Before(l.ask.Since):
		l.over = append(l.over, j)
		if l.many += began(j); l.many > 2*l.max { // seldom, to limit the memory
			l.trim()
		}
	}
}

// trim keeps the latest jobs, and lets the window begin after the others.
func (l *latest) trim() {
	if l.many <= l.max {
		return
	}
	slices.SortFunc(l.over, func(a, b *queue.Job) int { return lastStart(b).Compare(lastStart(a)) })
	l.many = 0
	for i, j := range l.over {
		if l.many += began(j); l.many > l.max && i > 0 {
			l.many -= began(j)
			l.ask.Since, l.cut = lastStart(j).Add(1), true
			clear(l.over[i:])
			l.over = l.over[:i]
			return
		}
	}
}
