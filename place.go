package fairlead

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// place is where a job stands among those that wait, with what goes before it. It is worked out
// beside the loop: with a hundred thousand jobs before it that takes longer than decisions may wait.
type place struct {
	rank  *why.Rank // nil: it does not start, even with all the room there is
	ahead []why.Ahead
}

// manyWaiting is from how many waiting tasks on the place of a job is looked up in the order
// that all share. A preview of its own takes as long as there are tasks before it.
const manyWaiting = 4000

// placeTime is how long the place of a job is looked for that is in no order, as it came later: then
// it is behind more than what was found by then.
const placeTime = 15 * time.Millisecond

// placeOf is the place of a job where much waits; else nil.
func (l *Loop) placeOf(ctx context.Context, j *Job) *place {
	if _, waiting := l.Running(); waiting < manyWaiting || j.Held || j.Pending > 0 {
		return nil
	}
	const glance = 3 * time.Millisecond
	o := l.orderSoon(ctx, glance)
	if _, known := o.Position[j.ID]; !known {
		o = l.Glance(ctx)
	}
	l.mu.Lock()
	s := l.jobOf(headerOf(j))
	t := l.tally(s)
	_, found := o.Position[j.ID]
	var outlook *sched.Outlook
	if o.core != l.core || !found && o.of != l.version && l.core.Waits(s) {
		if o = l.glimpses.of(s, l.core); o == nil {
			outlook = l.core.Outlook()
		}
	}
	core := l.core
	l.mu.Unlock()
	if outlook != nil {
		o = orderUpTo(j.ID, outlook)
		o.core = core
		l.mu.Lock()
		l.glimpses.keep(s, o)
		l.mu.Unlock()
	}
	return t.lookUp(o, j.ID)
}

// glimpses are what was found lately of jobs that are in no order: whoever asks what if has just
// asked why, and a page asks both.
type glimpses map[int64]glimpse

// glimpse is the order before a job, as far as there was time.
type glimpse struct {
	job   sched.Job
	order *Order
}

// How old a glimpse may be, and how many are kept.
const (
	glimpseAge   = 500 * time.Millisecond
	glimpsesMost = 100
)

// of is what was found of a job, if it is still as it was.
func (g glimpses) of(j sched.Job, core *sched.Scheduler) *Order {
	if x := g[j.ID]; x.job == j && x.order.core == core && time.Since(x.order.At) < glimpseAge {
		return x.order
	}
	return nil
}

// keep keeps what was found.
func (g glimpses) keep(j sched.Job, o *Order) {
	if len(g) >= glimpsesMost {
		clear(g)
	}
	g[j.ID] = glimpse{j, o}
}

// orderUpTo is the order of starts before one job, as far as there is time.
func orderUpTo(job int64, outlook *sched.Outlook) *Order {
	began := time.Now()
	o := &Order{At: began, Position: map[int64]int64{}, whole: true}
	outlook.Preview(func(s sched.Start, units float64) bool {
		o.add(s, units)
		o.whole = false
		more := s.Job != job && len(o.starts) < whatIfTasks && (len(o.starts)%64 > 0 || time.Since(began) < placeTime)
		o.whole = more
		return more
	})
	o.name(outlook.Path)
	return o
}

// tally adds up what goes before a job.
type tally struct {
	mine  sched.PoolID
	path  string // of it
	r     why.Rank
	by    []int32 // index into of by pool, from 1
	of    []why.Ahead
	tasks int64
}

// tally begins with nothing. The loop is locked.
func (l *Loop) tally(j sched.Job) *tally {
	mine := l.core.Leaf(j)
	return &tally{mine: mine, path: l.core.Path(mine), r: why.Rank{Of: l.core.View(sched.Root).Waiting}}
}

// lookUp looks a job's place up in an order.
func (t *tally) lookUp(o *Order, job int64) *place {
	at, found := o.Position[job]
	before := o.starts
	switch {
	case found:
		before = o.starts[:at-1]
	case o.whole:
		return &place{}
	}
	for _, s := range before {
		t.add(s.pool, s.first, float64(s.units), func(id sched.PoolID) string { return o.paths[id] })
	}
	return t.close(found)
}

// add counts a task of a pool; first is set for the first of its job.
func (t *tally) add(pool sched.PoolID, first bool, units float64, path func(sched.PoolID) string) {
	for int(pool) >= len(t.by) {
		t.by = append(t.by, make([]int32, 1+int(pool)-len(t.by))...)
	}
	if t.by[pool] == 0 {
		name := path(pool)
		t.of = append(t.of, why.Ahead{Pool: name, Own: pool == t.mine, Level: parting(name, t.path)})
		t.by[pool] = int32(len(t.of))
	}
	p := &t.of[t.by[pool]-1]
	if first {
		p.Jobs++
		t.r.Jobs++
	}
	p.Tasks++
	p.Units += units
	t.r.Units += units
	t.tasks++
}

// close is the place; found says whether all that goes before is known.
func (t *tally) close(found bool) *place {
	t.r.Position, t.r.Pools, t.r.Capped = t.tasks, int64(len(t.of)), !found
	if found {
		t.r.Position++
	}
	return &place{&t.r, t.of}
}

// parting is the path of the pool in which the ways to two leaves part.
func parting(a, b string) string {
	end := 0
	for i := 0; ; i++ {
		aEnds, bEnds := i == len(a) || a[i] == '/', i == len(b) || b[i] == '/'
		if aEnds && bEnds {
			end = i
		}
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return strings.TrimSuffix(a[:end], "/")
		}
	}
}
