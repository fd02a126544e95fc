package qs

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead/fairlead/frontback"
)

// Job is a job that will arrive.
type Job struct {
	ID       int64
	Width    int // the number of workers that it takes, all at once; 0 means 1
	Group    string
	Arrives  time.Duration // since the beginning
	Runs     time.Duration
	Estimate time.Duration // of Runs, at its submission
	Fails    bool          // at its end
}

// width returns the number of workers that the job takes.
func (j *Job) width() int { return max(1, j.Width) }

// Server is the queueing system.
type Server struct {
	Workers int
	// Fifo ignores priorities.
	Fifo bool
	// Ages is the wait after which a job rises by one priority; 0 means never, and the algorithm assumes
	// that.
	Ages time.Duration
}

// Ran is a job with its decision and its times.
type Ran struct {
	Job
	Decision   frontback.Decision
	Start, End time.Duration
}

// origin is the beginning of the virtual time.
var origin = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// Run simulates until all jobs have ended, and returns them in the order of their starts. A job that does not
// fit yet blocks the jobs behind it; no job may be wider than the number of workers.
func Run(s frontback.Settings, q Server, jobs []Job) ([]Ran, error) {
	book, err := frontback.New(s)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		if jobs[i].width() > q.Workers {
			return nil, fmt.Errorf(
				"job %d takes %d workers, but the cluster has only %d", jobs[i].ID, jobs[i].width(), q.Workers)
		}
	}
	coming := slices.Clone(jobs)
	slices.SortStableFunc(coming, func(a, b Job) int { return cmp.Or(cmp.Compare(a.Arrives, b.Arrives), cmp.Compare(a.ID, b.ID)) })
	r := &run{book: book, server: q}
	for len(coming) > 0 || r.running.Len() > 0 {
		now := r.next(coming)
		if err := r.end(now); err != nil {
			return nil, err
		}
		for len(coming) > 0 && coming[0].Arrives <= now {
			if err := r.submit(coming[0]); err != nil {
				return nil, err
			}
			coming = coming[1:]
		}
		if err := r.start(now); err != nil {
			return nil, err
		}
	}
	return r.ran, nil
}

type run struct {
	book             *frontback.Book
	server           Server
	waiting, running line
	busy             int // workers
	ran              []Ran
}

// next returns the next instant at which something happens.
func (r *run) next(coming []Job) time.Duration {
	switch {
	case r.running.Len() == 0:
		return coming[0].Arrives
	case len(coming) == 0:
		return r.running[0].job.End
	}
	return min(coming[0].Arrives, r.running[0].job.End)
}

func (r *run) end(now time.Duration) error {
	for r.running.Len() > 0 && r.running[0].job.End <= now {
		j := heap.Pop(&r.running).(place).job
		r.busy -= j.width()
		how, used := frontback.Done, use(j.Runs, j.width())
		if j.Fails {
			how = frontback.Failed
		}
		if _, err := r.book.End(j.ID, how, &used, origin.Add(now)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) submit(j Job) error {
	d, err := r.book.Submit(frontback.Job{ID: j.ID, Group: j.Group, Estimate: use(j.Estimate, j.width())},
		origin.Add(j.Arrives))
	if err != nil {
		return err
	}
	p := place{key: -float64(d.Priority), job: Ran{Job: j, Decision: d}}
	switch {
	case r.server.Fifo:
		p.key = 0
	case r.server.Ages > 0:
		// All jobs rise at the same rate, so a job that is ahead stays ahead: the order is fixed on arrival.
		p.key += float64(j.Arrives) / float64(r.server.Ages)
	}
	p.instant = j.Arrives
	heap.Push(&r.waiting, p)
	return nil
}

func (r *run) start(now time.Duration) error {
	for r.waiting.Len() > 0 && r.busy+r.waiting[0].job.width() <= r.server.Workers {
		j := heap.Pop(&r.waiting).(place).job
		r.busy += j.width()
		j.Start, j.End = now, now+j.Runs
		if err := r.book.Start(j.ID, origin.Add(now)); err != nil {
			return err
		}
		heap.Push(&r.running, place{key: float64(j.End), instant: j.End, job: j})
		r.ran = append(r.ran, j)
	}
	return nil
}

// use returns the use of a job that has width workers for a time.
func use(d time.Duration, width int) frontback.Use {
	s, n := d.Seconds(), float64(width)
	return frontback.Use{Seconds: s, CPUSeconds: s * n, Processes: n, Work: s * n, Resources: map[string]float64{"cpu": n}}
}

// place is the position of a job in a line: the smallest key first, then the smallest instant, then the
// smallest number of the job.
type place struct {
	key     float64
	instant time.Duration
	job     Ran
}

// line is a heap of places.
type line []place

func (l line) Len() int { return len(l) }
func (l line) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].key, l[j].key), cmp.Compare(l[i].instant, l[j].instant),
		cmp.Compare(l[i].job.ID, l[j].job.ID)) < 0
}
func (l line) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *line) Push(x any)   { *l = append(*l, x.(place)) }
func (l *line) Pop() any {
	last := len(*l) - 1
	p := (*l)[last]
	*l = (*l)[:last]
	return p
}
