package fairlead

import (
	"strings"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// rank finds the job's place in the order of the next starts, by a preview of at most so many.
func (l *Loop) rank(a *why.Answer, j sched.Job, most int64) {
	jobs := map[int64]bool{}
	t := l.tally(a, j)
	found, n := false, int64(0)
	l.core.Preview(func(s sched.Start, units float64) bool {
		n++
		if found = s.Job == j.ID; found {
			return false
		}
		t.add(s.Pool, !jobs[s.Job], units)
		jobs[s.Job] = true
		return n < most
	})
	if found || n >= most { // else it cannot start, even with all the room there is
		t.close(found)
	}
}

// tally adds up what goes before a job.
type tally struct {
	l     *Loop
	a     *why.Answer
	mine  sched.PoolID
	r     why.Rank
	by    []int32 // index into of by pool, from 1
	of    []why.Ahead
	tasks int64
}

func (l *Loop) tally(a *why.Answer, j sched.Job) *tally {
	return &tally{l: l, a: a, mine: l.core.Leaf(j), r: why.Rank{Of: l.core.View(sched.Root).Waiting}}
}

// add counts a task of a pool; first is set for the first of its job.
func (t *tally) add(pool sched.PoolID, first bool, units float64) {
	for int(pool) >= len(t.by) {
		t.by = append(t.by, make([]int32, 1+int(pool)-len(t.by))...)
	}
	if t.by[pool] == 0 {
		t.of = append(t.of, why.Ahead{Pool: t.l.core.Path(pool), Own: pool == t.mine, Level: t.l.decidedAt(pool, t.mine)})
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

// close puts the place into the answer; found says whether all that goes before is known.
func (t *tally) close(found bool) {
	t.r.Position, t.r.Pools, t.r.Capped = t.tasks, int64(len(t.of)), !found
	if found {
		t.r.Position++
	}
	t.a.Rank, t.a.Ahead = &t.r, t.of
}

// decidedAt is the path of the pool in which the ways to two leaves part.
func (l *Loop) decidedAt(x, y sched.PoolID) string {
	a, b := strings.Split(l.core.Path(x), "/"), strings.Split(l.core.Path(y), "/")
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.Join(a[:n], "/")
}
