package sched

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead/fairlead/cluster"
	"github.com/fairlead/fairlead/usage"
)

// NoLimit is the planned run time of a task without a time limit. It is large, so that planning avoids room behind
// such a task. But it is finite, so that a task that has to wait for such a task still goes before tasks that would
// delay it.
const NoLimit = 365 * 24 * time.Hour

// maxPriorities is the largest number of priorities, so that an [arrival] is exact.
const maxPriorities = 32

// newSuffix marks the priority class of the new jobs of a priority.
const newSuffix = " (new)"

// planning says for which waiting jobs future room is planned.
type planning uint8

const (
	plansNone  planning = iota
	plansFirst          // for the first job that finds no room
	plansAll            // for every waiting job
)

// site is the base of all parts: the configuration, the nodes, and the time.
type site struct {
	cfg      Config
	clock    usage.Clock
	at       time.Time // of the last event
	now      usage.Now // the same in the clock's units
	cluster  *cluster.Cluster
	began    time.Time // when the scheduler was created
	instant  Setting   // common to all settings of this instant
	events   uint64    // number of events other than starts of a step
	oneByOne bool      // a preview: slots become free one at a time
	epoch    uint32    // chunks of jobs of this epoch may be changed in place
	plans    planning  // by the backfill rule
	strict   bool      // no job may pass a job without room
	windowed bool      // some request names a window
	rarely   bool      // sub-queues without room try again as rarely as on a large site
}

// room is the number of free slots. A preview hands them out one at a time.
func (m *site) room() int64 {
	if m.oneByOne {
		return 1
	}
	return m.cluster.FreeUnits()
}

// backfills reports whether future room is planned.
func (m *site) backfills() bool {
	return m.plans != plansNone
}

// instantOf is the present instant in the unit of the plan.
func (m *site) instantOf() int64 { return m.at.UnixNano() }

// keepPriorities appends the priorities that the new configuration no longer has, because jobs may wait under them;
// they keep their weight. It returns the new number of each priority.
func (m *site) keepPriorities(cfg *Config) (to []int8, err error) {
	all := slices.Clone(cfg.Priorities)
	for _, old := range m.cfg.Priorities {
		i := slices.IndexFunc(all, func(p Priority) bool { return p.Name == old.Name })
		if i < 0 {
			i = len(all)
			all = append(all, old)
		}
		to = append(to, int8(i))
	}
	if len(all) > maxPriorities {
		return nil, fmt.Errorf("sched: more than %d priorities; priorities that are no longer configured count, as jobs may wait under them; restart to forget these", maxPriorities)
	}
	cfg.Priorities = all
	return to, nil
}

// deepEnough reports whether a search has visited the maximum number of jobs.
func (m *site) deepEnough(n int) bool { return m.cfg.Depth > 0 && n >= m.cfg.Depth }

// setInstant updates the numbers common to all settings of this instant.
func (m *site) setInstant() {
	m.instant.Now, m.instant.Seconds, m.instant.Unix = m.now, m.at.Sub(m.began).Seconds(), unix(m.at)
}

// setClock also updates the numbers that change only with the clock.
func (m *site) setClock() {
	m.instant.MeanLife = m.clock.HalfLife().Seconds() / math.Ln2
	m.setInstant()
}

func (m *site) seconds() float64 { return m.instant.Seconds }

// sinceThen is when a job was submitted; a job whose submission is unknown counts as new.
func (m *site) sinceThen(j *Job) time.Duration {
	switch {
	case j.since != 0:
		return j.since
	case j.Submitted.IsZero():
		return since(m.at)
	}
	return since(j.Submitted)
}

// nodeNames names nodes, each once, in the order in which they joined.
func (m *site) nodeNames(ids []cluster.NodeID) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = m.nodeName(id)
	}
	return names
}

func (m *site) nodeName(id cluster.NodeID) string { return m.cluster.Nodes()[id].Name }

// isNew reports whether a job counts as new.
func (m *site) isNew(j Job) bool {
	return m.cfg.NewJobs.For > 0 && !j.Submitted.IsZero() && m.at.Before(j.Submitted.Add(m.cfg.NewJobs.For))
}

// className is the name of the priority class of a priority.
func (m *site) className(priority int, isNew bool) string {
	name := m.cfg.Priorities[priority].Name
	if isNew {
		return name + newSuffix
	}
	return name
}

// classWeight is the weight of a priority class in its leaf pool.
func (m *site) classWeight(priority int, isNew bool) float64 {
	w := m.cfg.Priorities[priority].Weight
	if isNew && m.cfg.NewJobs.For > 0 {
		w *= m.cfg.NewJobs.Factor
	}
	return w
}

func (m *site) priority(name string) int {
	for i, p := range m.cfg.Priorities {
		if p.Name == name {
			return i
		}
	}
	panic("sched: no priority " + name)
}

// unix is an instant in seconds since 1970.
func unix(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// earlier is the earlier of two instants; a zero instant is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
