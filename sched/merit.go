package sched

import (
	"math"

	"github.com/fairlead/fairlead/cluster"
)

// merit is what the jobs of one line have in common of their priority.
type merit struct {
	size, qos, tres, site, nice float64
	sum                         float64 // of them all
}

// Ranked is the priority of a job, term by term.
type Ranked struct {
	Job                                                      int64
	Age, Fairshare, Size, Pool, QOS, Assoc, TRES, Site, Nice float64
}

// Priority is the sum of the terms. They are multiples of one power of two, so that it is
// exact.
func (r *Ranked) Priority() float64 {
	return r.Age + r.Fairshare + r.Size + r.Pool + r.QOS + r.Assoc + r.TRES + r.Site - r.Nice
}

// merits computes what a shape and a class are worth, and remembers it: the numbers stay
// as they are until all are computed anew.
func (s *Scheduler) merit(shape cluster.Shape, c Class) *merit {
	r := s.ranks
	key := meritKey{shape, c}
	m, ok := r.merits[key]
	if !ok {
		m = s.newMerit(shape, s.traitsOf(c))
		r.merits[key] = m
	}
	return m
}

type meritKey struct {
	shape cluster.Shape
	class Class
}

func (s *Scheduler) newMerit(shape cluster.Shape, t Traits) *merit {
	r, cfg := s.ranks, &s.cfg.Multifactor
	m := &merit{
		size: r.exact(cfg.Size * s.sizeFactor(shape, t)),
		qos:  r.exact(cfg.QOS * cfg.Levels[t.QOS]),
		site: r.exact(cfg.Site * t.Site),
		nice: r.exact(float64(t.Nice)),
	}
	tres, tasks := 0.0, float64(s.atOnce(shape))
	for number, n := range s.cluster.Request(shape) {
		tres += cfg.TRES[s.cluster.Resource(number)] * part(tasks*float64(n), r.capacityOf(number))
	}
	m.tres = r.exact(tres)
	m.sum = m.size + m.qos + m.tres + m.site - m.nice
	return m
}

// sizeFactor is the part of the cluster that one task asks for, or all of a gang; or, for a job without
// a time limit in relation to the time, nothing.
func (s *Scheduler) sizeFactor(shape cluster.Shape, t Traits) float64 {
	cfg := &s.cfg.Multifactor
	size := float64(s.atOnce(shape)) * s.cluster.Width(shape)
	if cfg.RelativeToTime {
		if t.Minutes <= 0 {
			return 0
		}
		size /= t.Minutes
	}
	f := part(size, s.ranks.capacityOf(0))
	if cfg.Small {
		return 1 - f
	}
	return f
}

// part is a fraction from 0 to 1.
func part(n, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return math.Min(n/of, 1)
}

func (r *ranking) capacityOf(resource int) float64 {
	if resource < len(r.capacity) {
		return float64(r.capacity[resource])
	}
	return 0
}
