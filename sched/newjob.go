package sched

import (
	"container/heap"
	"time"
)

// NewJobs says by how much jobs that came lately count more than others of their pool:
// for some time after they were submitted they stand in a band of their own, with the
// weight of their priority times the factor.
type NewJobs struct {
	Factor float64
	For    time.Duration // 0: they do not
}

// newSuffix marks the band of the new jobs of a priority.
const newSuffix = " (new)"

// ripening holds the jobs in bands for new ones, by when they were submitted.
type ripening []newJob

// newJob is where a job was put when it was new.
type newJob struct {
	submitted time.Time
	id        int64
	at        lineRef
}

func (r ripening) Len() int { return len(r) }
func (r ripening) Less(i, j int) bool {
	if !r[i].submitted.Equal(r[j].submitted) {
		return r[i].submitted.Before(r[j].submitted)
	}
	return r[i].id < r[j].id
}
func (r ripening) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *ripening) Push(x any)   { *r = append(*r, x.(newJob)) }
func (r *ripening) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}

func (r ripening) has(job int64) bool {
	for i := range r {
		if r[i].id == job {
			return true
		}
	}
	return false
}

// young reports whether a job counts as new.
func (s *Scheduler) young(j Job) bool {
	return s.cfg.NewJobs.For > 0 && !j.Submitted.IsZero() && s.at.Before(j.Submitted.Add(s.cfg.NewJobs.For))
}

// nextRipe is when the next job is new no longer; zero if there is none.
func (s *Scheduler) nextRipe() time.Time {
	if len(s.ripening) == 0 {
		return time.Time{}
	}
	return s.ripening[0].submitted.Add(s.cfg.NewJobs.For)
}

// watch remembers where a new job is.
func (s *Scheduler) watch(j Job, at lineRef) {
	heap.Push(&s.ripening, newJob{j.Submitted, j.ID, at})
}

// ripen moves the jobs that are new no longer to the bands of the others.
func (s *Scheduler) ripen() {
	for len(s.ripening) > 0 && !s.nextRipe().After(s.at) {
		x := heap.Pop(&s.ripening).(newJob)
		b, begun := s.begunOf[x.id]
		if begun {
			x.at = s.begun[b].at
		} else if at, found := s.freshIn(x.at.queue, x.id); found {
			x.at = at
		} else {
			continue
		}
		leaf := s.queues[x.at.queue].pool
		if !s.pools[leaf].young {
			continue
		}
		j := Job{ID: x.id, Pool: PoolID(leaf), Shape: s.line(x.at).shape, Class: s.line(x.at).class, Limit: s.line(x.at).limit, Priority: int(max(0, s.pools[leaf].band))}
		if s.labels[leaf].kind == band {
			j.Pool = PoolID(s.pools[leaf].parent)
		}
		switch {
		case begun && s.begun[b].waiting > 0:
			j.Most = int(s.begun[b].own)
			s.add(j)
		case !begun:
			s.moveFresh(j, leaf, x.at)
		}
	}
}

// moveFresh moves a job of which no task has started, if it still waits.
func (s *Scheduler) moveFresh(j Job, leaf int32, at lineRef) {
	fresh := &s.line(at).fresh
	ci, i, found := fresh.find(j.ID)
	if !found {
		return
	}
	e := fresh.chunk(ci).entries[i]
	j.Tasks, j.Most, j.since = int(e.tasks), int(e.most), e.since
	s.change(at, func(l *line) { l.fresh.remove(j.ID, s.epoch) })
	s.addWaiting(at, -int64(e.tasks))
	s.settle(leaf)
	s.add(j)
}

// bandName is what the band of a priority is called.
func (s *Scheduler) bandName(priority int, young bool) string {
	name := s.cfg.Priorities[priority].Name
	if young {
		return name + newSuffix
	}
	return name
}

// bandWeight is the weight of a band among those of its leaf.
func (s *Scheduler) bandWeight(priority int, young bool) float64 {
	w := s.cfg.Priorities[priority].Weight
	if young && s.cfg.NewJobs.For > 0 {
		w *= s.cfg.NewJobs.Factor
	}
	return w
}

// held finds the line in which a job waits of which no task has started.
func (s *Scheduler) held(j Job) (at lineRef, found bool) {
	id := int32(j.Pool)
	leaves := []int32{id}
	switch {
	case s.pools[id].inner < 0:
	case !s.banded(id): // it got children since its number was asked for
		leaves[0] = int32(s.Pool(s.Path(j.Pool)))
	default:
		leaves = leaves[:0]
		for _, young := range []bool{true, false} {
			if b, there := s.index[childKey{id, s.bandName(j.Priority, young), band}]; there {
				leaves = append(leaves, b)
			}
		}
	}
	for _, leaf := range leaves {
		if n := s.pools[leaf].queue; n >= 0 {
			if at, found = s.freshIn(n, j.ID); found {
				return at, true
			}
		}
	}
	return at, false
}

// freshIn finds the line of a queue in which a job waits of which no task has started.
func (s *Scheduler) freshIn(queue int32, id int64) (at lineRef, found bool) {
	for i := range s.queues[queue].lines() {
		if _, _, found := s.queues[queue].line(i).fresh.find(id); found {
			return lineRef{queue, int32(i)}, true
		}
	}
	return at, false
}

// nextChange is when something changes at an instant of its own; zero if nothing does.
func (s *Scheduler) nextChange() time.Time {
	return earlier(earlier(s.boosts.next(), s.nextRipe()), earlier(earlier(s.nextEdge(), s.nextLinger()), s.pauses.next))
}

// earlier is the earlier of two instants, of which the zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
