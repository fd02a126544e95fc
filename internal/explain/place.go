package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/units"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why"
)

// place is a job's place among the waiting jobs, with the jobs ahead. It is computed in the background: with a hundred
// thousand jobs ahead that takes longer than decisions may wait.
type place struct {
	rank  *why.Rank // nil: the job does not start, even with unlimited room
	ahead []why.Ahead

	then *sched.Scheduler // a copy of the scheduler as it was at the instant "at"; nil: the place is of the present
	at   time.Time        // when the place was computed
	of   *preview         // that has the copy "then"; nil: the copy is of the shared order
}

// Done says that the caller no longer reads the place. It must be called once for each result of PlaceOf.
func (p *place) Done() {
	if p != nil && p.of != nil {
		p.of.done()
	}
}

// placeTime bounds the search for the place of a job that was submitted after the order was computed. If the time is
// over, the job counts as behind all jobs that the search has found.
const placeTime = 15 * time.Millisecond

// OrderUpTo returns the order of starts ahead of one job, as far as there is time.
func OrderUpTo(job int64, outlook *sched.Outlook) *Order {
	began := time.Now()
	o := &Order{At: began, Position: map[int64]int64{}, Whole: true}
	outlook.Preview(func(s sched.Start, units float64) bool {
		o.Add(s, units)
		o.Whole = false
		more := s.Job != job && len(o.Starts) < WhatIfTasks && (len(o.Starts)%64 > 0 || time.Since(began) < placeTime)
		o.Whole = more
		return more
	})
	o.Name(outlook)
	return o
}

// tally adds up the tasks ahead of a job.
type tally struct {
	mine  sched.PoolID
	path  string // of mine
	r     why.Rank
	by    []int32 // by pool, an index into the field "of", from 1
	of    []why.Ahead
	pools map[string]bool // the pools in the field "of", which has one entry for each priority of a pool
	tasks int64
}

// Tally returns an empty tally for a job.
func Tally(s *engine.State, j sched.Job) *tally {
	mine := s.Core.Leaf(j)
	return &tally{mine: mine, path: s.Core.Path(mine), pools: map[string]bool{},
		r: why.Rank{Of: s.Core.View(sched.Root).Waiting}}
}

// LookUp finds a job's place in an order.
func (t *tally) LookUp(o *Order, job int64) *place {
	at, found := o.Position[job]
	before := o.Starts
	switch {
	case found:
		before = o.Starts[:at-1]
	case o.Whole:
		return &place{}
	}
	for _, s := range before {
		t.add(s.Pool, s.First, float64(s.units), func(id sched.PoolID) label { return o.Labels[id] })
	}
	return t.close(found)
}

// add counts a task of a pool. The flag "first" is set for the first task of its job.
func (t *tally) add(pool sched.PoolID, first bool, units float64, called func(sched.PoolID) label) {
	for int(pool) >= len(t.by) {
		t.by = append(t.by, make([]int32, 1+int(pool)-len(t.by))...)
	}
	if t.by[pool] == 0 {
		x := called(pool)
		t.of = append(t.of, why.Ahead{Pool: x.Path, Priority: x.priority, Own: pool == t.mine,
			Level: parting(x.Path, t.path)})
		t.pools[x.Path] = true
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

// close returns the place. The argument "found" says whether all tasks ahead of the job are known.
func (t *tally) close(found bool) *place {
	t.r.Position, t.r.Pools, t.r.Capped = t.tasks, int64(len(t.pools)), !found
	if found {
		t.r.Position++
	}
	return &place{rank: &t.r, ahead: t.of}
}

// parting returns the path of the lowest common pool of two leaves.
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

// WhatIfTasks is the number of starts that are previewed to find the place of a job in a fork, while the engine waits.
const WhatIfTasks = 20_000

// rank finds the job's place in the order of the next starts, by a preview whose number of starts is at most
// the argument "most".
func rank(st *engine.State, j sched.Job, most int64) *place {
	jobs := map[int64]bool{}
	t := Tally(st, j)
	found, n := false, int64(0)
	st.Core.Preview(func(s sched.Start, units float64) bool {
		n++
		if found = s.Job == j.ID; found {
			return false
		}
		t.add(s.Pool, !jobs[s.Job], units, func(id sched.PoolID) label { return labelIn(st.Core, id) })
		jobs[s.Job] = true
		return n < most
	})
	if !found && n < most { // it cannot start, even with unlimited room
		return &place{}
	}
	return t.close(found)
}

// rankReason describes the rank in words.
func rankReason(s *engine.State, a *why.Answer, j *queue.Job) why.Reason {
	if a.Rank.Position == 1 {
		return nextReason(s, a, j)
	}
	if a.Kept != nil && a.Kept.Held && len(a.Kept.Nodes) > 0 {
		return heldReason(s, a.Kept)
	}
	r := behindReason(s, a, j)
	r.Text += startsThereFirst(s, j)
	return r
}

// behindReason explains a job that is not next: it says which jobs or pools go before it.
func behindReason(s *engine.State, a *why.Answer, j *queue.Job) why.Reason {
	var level *why.Level // the level that decides
	for i := range a.Levels {
		lv := &a.Levels[i]
		if lv.Before == 0 || len(lv.Children) < 2 {
			continue
		}
		if !turnsOnly(lv) {
			level = lv
			break
		}
		level = cmp.Or(level, lv)
	}
	own := slices.IndexFunc(a.Ahead, func(x why.Ahead) bool { return x.Own })
	switch {
	case own >= 0 && (level == nil || turnsOnly(level)):
		return why.Reason{
			Code: why.OrderBehind, Text: "it is behind " + units.Plural(int(a.Ahead[own].Jobs), "job") + " of its own pool " +
				share.Original(j.Pool),
			Next: raise(s, "raise its priority: ", j),
		}
	case level != nil:
		return behind(s, a, j, level)
	}
	return behindUnknown(s, a, j)
}

// behindUnknown returns the reason of a job that is behind others, although no comparison shows it: jobs that wait for
// room are compared only when there is room.
func behindUnknown(s *engine.State, a *why.Answer, j *queue.Job) why.Reason {
	r := why.Reason{Code: why.ShareBehind, Text: "it is behind " + units.Plural(int(a.Rank.Jobs), "job") + " of "}
	if slices.ContainsFunc(a.Ahead, func(x why.Ahead) bool { return x.Pool != j.Pool }) {
		r.Text += "other pools"
	} else { // of other priorities
		r.Code, r.Text = why.OrderBehind, r.Text+"its own pool "+share.Original(j.Pool)
	}
	g := a.Gates[len(a.Gates)-1]
	if g.Code == why.FitNow && s.Shares.Sched.Backfill != sched.FCFS {
		r.Text += ", and has no room now; jobs that have room may start before it"
	}
	return r
}

// turnsOnly reports whether the job's path is behind at a level only because of a tie between classes that have their
// entitlement, while the cluster is full. A slot that the job's own class frees returns to that class, so the tie is
// not the reason for the job's wait.
func turnsOnly(lv *why.Level) bool {
	if lv.Policy != "load" {
		return false
	}
	first, you := lv.Children[0], lv.Children[yours(lv)]
	return first.Key == you.Key && first.BelowMin == you.BelowMin && you.Running > 0
}

// yours returns the index of the job's child at a level.
func yours(lv *why.Level) int {
	return slices.IndexFunc(lv.Children, func(c why.Child) bool { return c.Name == lv.You })
}

// behind returns the reason of a job whose path is behind at a level.
func behind(s *engine.State, a *why.Answer, j *queue.Job, lv *why.Level) why.Reason {
	first := lv.Children[0]
	r := why.Reason{
		Code: why.ShareBehind, Text: aheadText(lv, first, lv.Children[yours(lv)], a.Units.Growth),
		Next: fmt.Sprintf("fairlead why %d --vs %s", j.ID, strings.TrimPrefix(lv.Pool+"/"+first.Name, "/")),
	}
	if lv.Jobs {
		return jobReason(j.ID, r.Text, first.Name)
	}
	if s.Core.Read().PriorityClass(sched.PoolID(first.Number)) {
		r.Next = cmp.Or(raise(s, "", j), r.Next)
	}
	return r
}

// raise returns the argument "words", followed by the command that gives a job the next higher priority. It returns ""
// if the job has the highest.
func raise(s *engine.State, words string, j *queue.Job) string {
	p, known := s.Shares.Priority(j.Priority)
	if !known || p == 0 {
		return ""
	}
	return fmt.Sprintf("%sfairlead alter %d --priority %s", words, j.ID, s.Shares.Sched.Priorities[p-1].Name)
}

// inPool returns " in " and the pool, or "" for the root pool, where everybody expects pools to be compared.
func inPool(path string) string {
	if path == "" {
		return ""
	}
	return " in " + share.Original(path)
}

// aheadText says why one child goes before another.
func aheadText(lv *why.Level, first, you why.Child, growth float64) string {
	return fmt.Sprintf("%s goes before %s%s: %s", share.Original(first.Name), share.Original(lv.You), inPool(lv.Pool),
		lv.Wins("it", first, you, growth))
}

// jobReason says that another job of the same pool has a higher priority.
func jobReason(id int64, text, first string) why.Reason {
	return why.Reason{
		Code: why.OrderBehind, Text: text,
		Next: fmt.Sprintf("fairlead why %d --vs %s", id, strings.TrimPrefix(first, "job ")),
	}
}
