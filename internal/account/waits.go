package account

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// Waits are how long tasks waited before they first started, as [Read] counts it.
type Waits struct {
	// Since and Until are the window: it begins later than was asked if Cut.
	Since, Until time.Time
	Cut          bool
	// Row is of all of them.
	Row
	// Kinds are the rows by kind, of those of which a task started.
	Kinds []Row
	// Steps are how many waited at most as long as each step, and longer than the one before.
	Steps []int64
}

// ReadWaits sums up waits alone, for those who look again and again: it reads the tasks of those
// jobs only of which one may have started in the window. Where more than most tasks would be read
// of jobs that start nothing more, the window begins later, so that what it says of it is exact.
func ReadWaits(ctx context.Context, src Source, a Ask, steps []time.Duration, most int) (*Waits, error) {
	a.By, a.Zone = []string{"kind"}, time.UTC
	l := latest{ask: a, most: most}
	if err := each(ctx, src, a, func(j *fairlead.Job) error { l.add(j); return nil }); err != nil {
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

// latest are the jobs of which a task may have started last.
type latest struct {
	ask  Ask // its window begins later where there are too many
	most int
	cut  bool
	open []*fairlead.Job // arrays of which more may start: any of their tasks may have just started
	over []*fairlead.Job
	many int // tasks of over that began
}

// lastStart is no earlier than any first start of a task of the job, as far as can be told without its tasks.
func lastStart(j *fairlead.Job) time.Time {
	if j.Tasks <= 1 {
		return j.Started
	}
	return j.Ended
}

func began(j *fairlead.Job) int { return j.Running + j.Succeeded + j.Failed + j.Cancelled }

func (l *latest) add(j *fairlead.Job) {
	switch {
	case j.Started.IsZero() || len(j.After) > 0:
	case j.Tasks > 1 && j.Ended.IsZero():
		l.open = append(l.open, j)
	case !lastStart(j).Before(l.ask.Since):
		l.over = append(l.over, j)
		if l.many += began(j); l.many > 2*l.most { // seldom, and not all are kept
			l.trim()
		}
	}
}

// trim keeps the latest, and lets the window begin after the others.
func (l *latest) trim() {
	if l.many <= l.most {
		return
	}
	slices.SortFunc(l.over, func(a, b *fairlead.Job) int { return lastStart(b).Compare(lastStart(a)) })
	l.many = 0
	for i, j := range l.over {
		if l.many += began(j); l.many > l.most && i > 0 {
			l.many -= began(j)
			l.ask.Since, l.cut = lastStart(j).Add(1), true
			clear(l.over[i:])
			l.over = l.over[:i]
			return
		}
	}
}

// upTo counts waits by their length.
func (x *sum) upTo(steps []time.Duration) []int64 {
	out := make([]int64, len(steps))
	for _, w := range x.waits {
		for i, s := range steps {
			if float64(w) <= s.Seconds() {
				out[i]++
				break
			}
		}
	}
	return out
}
