package config

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// standardTime is the limit of jobs that name none; none is said where the pool above
// has one.
func standardTime() kind[time.Duration] { return orNever(timeLimit("none"), "none") }

func largestTime() kind[time.Duration] { return left(timeLimit("")) }

// timeLimit is a duration that a job may have as its limit.
func timeLimit(zero string) kind[time.Duration] {
	k := span(time.Second, zero)
	read := k.read
	k.read = func(r *reader, name string, n *node) (time.Duration, bool) {
		d, ok := read(r, name, n)
		if ok && d > fairlead.MaxLimit {
			r.errorf(n, "%s must be at most ten years (%s), got %s", name, units.FormatDuration(fairlead.MaxLimit), n.describe())
			return 0, false
		}
		return d, ok
	}
	return k
}

// checkTimes refuses default limits above the largest one, that of a pool above included:
// a job that names none would be refused for it. A default that a pool has from above is
// cut instead, as it was not said for that pool.
func (r *reader) checkTimes(n *node, p *share.Pool, path string, above share.Times) {
	t := above.Under(path, p)
	if p.Time > t.Most && t.Most > 0 {
		r.errorf(n.get("time"), "time %s is above the max_time %s of %s; lower the one or raise the other",
			units.FormatDuration(p.Time), units.FormatDuration(t.Most), poolName(t.MostOf))
	}
	if p.MaxTime > above.Most && above.Most > 0 {
		r.warnf(n.get("max_time"), "max_time %s has no effect: that of %s is %s",
			units.FormatDuration(p.MaxTime), poolName(above.MostOf), units.FormatDuration(above.Most))
	}
	byName := poolsByName(p.Pools)
	for _, e := range pairs(n.get("pools")) {
		if c := byName[e.key.text]; c != nil {
			r.checkTimes(e.value, c, share.Join(path, c.Name), t)
		}
	}
}

func poolName(path string) string {
	if path == "" {
		return "the root"
	}
	return "pool " + clip(path)
}

// checkPlanned hints at jobs that would be planned to run for ever.
func (r *reader) checkPlanned(root *node, c *Config) {
	cfg := &c.Shares.Sched
	n := root.get("backfill")
	if n == nil || cfg.Placement != sched.EASY && cfg.Placement != sched.Conservative {
		return
	}
	if limited(&cfg.Root, share.Times{}, !c.Shares.Closed) {
		return
	}
	r.hintf(n, "%s plans by time limits, and a job without one is planned to run for a year, so that it seldom fits before others."+
		" Say what jobs have that name none, such as time: 1h, or time: none", n.text)
}

// limited reports whether the jobs of a pool and those below have a limit, or something
// is said about it.
func limited(p *share.Pool, above share.Times, more bool) bool {
	t := above.Under("", p)
	if t.Standard != 0 || t.Most > 0 {
		return true
	}
	for i := range p.Pools {
		if !limited(&p.Pools[i], t, false) {
			return false
		}
	}
	return len(p.Pools) > 0 && !more
}
