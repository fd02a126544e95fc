package config

import (
	"time"

	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// standardTime is the default limit of jobs without one. A pool writes none to override the default of the pool
// above.
func standardTime() kind[time.Duration] { return orNever(timeLimit("none"), "none") }

func largestTime() kind[time.Duration] { return left(timeLimit("")) }

// timeLimit is a duration that a job may have as its time limit.
func timeLimit(zero string) kind[time.Duration] {
	k := span(time.Second, zero)
	read := k.read
	k.read = func(r *reader, name string, n *node) (time.Duration, bool) {
		d, ok := read(r, name, n)
		if ok && d > queue.MaxLimit {
			r.errorf(n, "%s must be at most ten years (%s), got %s", name, units.FormatDuration(queue.MaxLimit), n.describe())
			return 0, false
		}
		return d, ok
	}
	return k
}

// checkTimes refuses a default limit above the maximum of the pool or of a pool above, because jobs without a limit
// would be refused. An inherited default was not set for that pool, so it is cut to the maximum instead.
func (r *reader) checkTimes(n *node, p *share.Pool, path string, above share.Times) {
	t := above.Under(path, p)
	if p.Time > t.Max && t.Max > 0 {
		r.errorf(n.get("time"), "time %s is above the max_time %s of %s; lower time or raise max_time",
			units.FormatDuration(p.Time), units.FormatDuration(t.Max), poolName(t.MaxOf))
	}
	if p.MaxTime > above.Max && above.Max > 0 {
		r.warnf(n.get("max_time"), "max_time %s has no effect: the max_time of %s is %s",
			units.FormatDuration(p.MaxTime), poolName(above.MaxOf), units.FormatDuration(above.Max))
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

// checkBackfill adds a hint if wide jobs may wait forever under the backfill rule.
func (r *reader) checkBackfill(root *node, c *Config) {
	n := root.get("backfill")
	if n == nil {
		return
	}
	switch c.Shares.Sched.Backfill {
	case sched.FirstFit:
		r.hintf(n, "first-fit keeps no room: narrow jobs can pass a wide one forever."+
			" If jobs have different sizes, use easy")
	case sched.FCFS:
		if path, uses := c.Shares.Sched.Root.Using("lottery", "load"); uses {
			r.hintf(n, "fcfs waits for the job that goes first, and the policy of %s chooses another one whenever a task ends:"+
				" narrow jobs can pass a wide one forever. If jobs have different sizes, use easy", poolName(path))
		}
	}
}
