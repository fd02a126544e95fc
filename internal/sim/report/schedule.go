package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fairlead/fairlead/internal/sim"
)

// run is a run that took place. Times are in seconds.
type run struct {
	id                 int64
	user               string
	submit, start, end int64
	procs              int
	lost               bool // stopped to make room for others
}

// runsOf lists the runs of a schedule: first the runs of the jobs that ended by themselves, then the stopped
// runs.
func runsOf(r *sim.Result) []run {
	w := r.Workload
	var runs []run
	add := func(job int, start, end int64, lost bool) {
		j := &w.Jobs[job]
		runs = append(runs, run{j.ID, w.Users[j.User], j.Submit, start, end, int(j.Procs), lost})
	}
	for i := range w.Jobs {
		if r.Schedule.Started(i) {
			add(i, r.Schedule.Start[i], r.End(i), false)
		}
	}
	for _, x := range r.Schedule.Lost {
		add(int(x.Job), x.Start, x.End, true)
	}
	return runs
}

// extent returns the first submission and the last end.
func extent(r *sim.Result) (from, to int64) {
	from = r.Workload.Jobs[0].Submit
	return from, from + r.Metrics.Makespan
}

// span is a range of adjacent processors, counted from 0.
type span struct{ first, count int }

func (s span) end() int { return s.first + s.count }

// assign gives the runs of a schedule processors: each run gets the first processors that are free when it
// starts, which may be in several spans. A simulator counts processors without numbering them, but a picture
// needs numbers. Runs that take no time get no processors. assign refuses a schedule that needs more
// processors than the machine has.
func assign(jobs []run, procs int) ([][]span, error) {
	starts := order(jobs, func(j run) int64 { return j.start })
	ends := order(jobs, func(j run) int64 { return j.end })
	spans := make([][]span, len(jobs))
	free := pile{{0, procs}}
	next := 0
	for _, i := range starts {
		j := jobs[i]
		if j.end <= j.start || j.procs <= 0 {
			continue
		}
		for ; next < len(ends) && jobs[ends[next]].end <= j.start; next++ {
			for _, s := range spans[ends[next]] {
				free.give(s)
			}
		}
		if spans[i] = free.take(j.procs); spans[i] == nil {
			return nil, fmt.Errorf("the schedule is impossible: job %d starts at second %d on %d processors, but only %d of %d are free", j.id, j.start, j.procs, free.sum(), procs)
		}
	}
	return spans, nil
}

// order returns the indexes of runs, sorted by a time and then by the number of the job.
func order(jobs []run, time func(run) int64) []int {
	places := make([]int, len(jobs))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int {
		return cmp.Or(cmp.Compare(time(jobs[a]), time(jobs[b])), cmp.Compare(jobs[a].id, jobs[b].id), cmp.Compare(a, b))
	})
	return places
}

// pile holds the free processors as sorted spans with gaps between them.
type pile []span

func (p pile) sum() int {
	n := 0
	for _, s := range p {
		n += s.count
	}
	return n
}

// take takes the first n processors, or returns nil if there are fewer.
func (p *pile) take(n int) []span {
	if p.sum() < n {
		return nil
	}
	var taken []span
	for i := range *p {
		s := &(*p)[i]
		if n < s.count {
			taken = append(taken, span{s.first, n})
			s.first, s.count = s.first+n, s.count-n
			*p = slices.Delete(*p, 0, i)
			return taken
		}
		taken = append(taken, *s)
		if n -= s.count; n == 0 {
			*p = slices.Delete(*p, 0, i+1)
			return taken
		}
	}
	panic("report: fewer processors are free than were counted")
}

// give puts a span back.
func (p *pile) give(s span) {
	i, _ := slices.BinarySearchFunc(*p, s, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	if i > 0 && (*p)[i-1].end() == s.first {
		i--
		(*p)[i].count += s.count
	} else {
		*p = slices.Insert(*p, i, s)
	}
	if i+1 < len(*p) && (*p)[i].end() == (*p)[i+1].first {
		(*p)[i].count += (*p)[i+1].count
		*p = slices.Delete(*p, i+1, i+2)
	}
}
