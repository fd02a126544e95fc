package fairlead

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// How much work an estimate is: the time that the replay with time limits may take, and
// those with real run times together, and how many there are of these at most.
const (
	estimateTime = 80 * time.Millisecond
	estimateMost = 200
	// hurriedTime is in place of these times where so much waits that replays seldom come to an
	// end: what they find, they find at once.
	hurriedTime = 10 * time.Millisecond
)

// lengths are how long tasks of each pool ran lately.
type lengths map[sched.PoolID]*recent

// recent holds the last so many. It is not changed but replaced, as estimates may read it.
type recent struct {
	of   [24]time.Duration
	seen int
}

func (l lengths) note(pool sched.PoolID, d time.Duration) {
	var next recent
	if r := l[pool]; r != nil {
		next = *r
	}
	next.of[next.seen%len(next.of)] = d
	next.seen++
	l[pool] = &next
}

// known are those of a pool that are longer than a time.
func (l lengths) known(pool sched.PoolID, than time.Duration) []time.Duration {
	r := l[pool]
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.of[:min(r.seen, len(r.of))]), func(d time.Duration) bool { return d <= than })
}

// estimator makes an estimate, while the loop goes on.
type estimator struct {
	future  *sched.Future
	job     int64
	began   time.Time // of the answer
	lengths lengths
	mean    time.Duration
	kept    *why.Kept // where room is kept for every job
	others  *alternatives
	tables  *Loop // whose tables say it where much waits; else nil
	hurried bool  // much waits
}

// most is how long a replay may take, or be waited for.
func (e *estimator) most(usual time.Duration) time.Duration {
	if e.hurried {
		return hurriedTime
	}
	return usual
}

// estimatorOf takes what an estimate needs out of the loop, which is locked.
func (l *Loop) estimatorOf(job int64, now time.Time) *estimator {
	e := l.estimatorIn(l.core, job, now)
	e.future = l.core.Future()
	return e
}

// estimatorIn is estimatorOf for a fork of the core, whose future is still to be taken.
func (l *Loop) estimatorIn(core *sched.Scheduler, job int64, now time.Time) *estimator {
	e := &estimator{
		job: job, began: now, lengths: maps.Clone(l.lengths),
		mean: time.Duration(core.View(sched.Root).Mean * float64(time.Second)),
	}
	if l.shares.Sched.Placement == sched.Conservative {
		e.kept = core.KeptFor(job)
	}
	if core.View(sched.Root).Waiting >= manyWaiting {
		e.tables, e.hurried = l, true
	}
	return e
}

// estimate says when the job starts.
func (e *estimator) estimate() *why.Estimate {
	out, done := &why.Estimate{}, true
	switch {
	case e.kept != nil:
		out.By, out.Kept, out.Node = &e.kept.From, true, strings.Join(e.kept.Nodes, ", ")
	case !e.lookUp(out):
		if done = e.bound(out); !done && e.tables != nil {
			e.ask(out)
		}
	}
	switch {
	case e.tables != nil:
		e.askRange(out)
	case done || !e.hurried: // else others would not come to the job, either
		e.replay(out)
	}
	return out
}

// lookUp takes the instant from the timetable that all share, if that is of the state as it
// is.
func (e *estimator) lookUp(out *why.Estimate) bool {
	if e.tables == nil {
		return false
	}
	t, fresh := e.tables.timetable.peek(e.tables)
	return fresh && t.tell(out, e.job, e.began)
}

// ask takes the instant from the timetable. If there is none it is made, which takes seconds, and is
// there later.
func (e *estimator) ask(out *why.Estimate) {
	t := e.tables.timetable.ask(context.Background(), e.tables, 0, e.tables.beginTimetable)
	if !t.tell(out, e.job, e.began) {
		out.Text += " (more goes before it than could be looked at in time; ask again in a few seconds)"
	}
}

// askRange takes the range of starts from the replays that all share. They are made for whoever
// asks next.
func (e *estimator) askRange(out *why.Estimate) {
	if len(e.lengths) == 0 {
		return
	}
	e.tables.ranges.ask(context.Background(), e.tables, 0, e.tables.beginRanges).tellRange(out, e.job, e.began)
}

// bound adds when the job starts if every task runs as long as it may. It reports whether
// there was time enough to find out.
func (e *estimator) bound(out *why.Estimate) bool {
	unlimited, begun := false, time.Now()
	goOn := func(sched.Forecast) bool { return time.Since(begun) < e.most(estimateTime) }
	bound := e.future.Forecast(e.job, goOn, func(t sched.Task) time.Time {
		if t.Limit <= 0 {
			unlimited = true
			return t.Started.Add(sched.NoLimit)
		}
		return t.Started.Add(t.Limit)
	})
	done := bound.Found || time.Since(begun) < e.most(estimateTime)
	switch {
	case bound.Found && (!unlimited || bound.At.Before(e.began.Add(sched.NoLimit/2))):
		out.By, out.Node = &bound.At, strings.Join(bound.Nodes, ", ")
	case unlimited:
		out.Text = "nobody can say by when: tasks that go before it, or run, have no time limit (submit -t)"
	case bound.At.After(e.began) || !done:
		out.Text = "not before " + why.Clock(bound.At, e.began)
	default:
		out.Text = "not with what there is now, although nothing new went ahead"
	}
	return done
}

// replay adds the range of starts with run times as they were.
func (e *estimator) replay(out *why.Estimate) {
	if len(e.lengths) == 0 {
		return
	}
	rng := e.random()
	var starts []time.Time
	began := time.Now()
	goOn := func(sched.Forecast) bool { return time.Since(began) < e.most(estimateTime) }
	for len(starts) < estimateMost && goOn(sched.Forecast{}) {
		f := e.future.Forecast(e.job, goOn, func(t sched.Task) time.Time { return t.Started.Add(e.sample(rng, t)) })
		if !f.Found {
			break
		}
		starts = append(starts, f.At)
	}
	spread(out, starts)
}

// random is the source of the run times that are drawn.
func (e *estimator) random() *rand.Rand {
	return rand.New(rand.NewPCG(uint64(e.job), uint64(e.began.Unix())))
}

// sample draws how long a task runs: as one of its pool that ran longer than this one
// does already, or else half as long again, and not beyond its limit.
func (e *estimator) sample(rng *rand.Rand, t sched.Task) time.Duration {
	ran := max(0, e.began.Sub(t.Started))
	long := max(e.mean, ran+ran/2)
	if known := e.lengths.known(t.Pool, ran); len(known) > 0 {
		long = known[rng.IntN(len(known))]
	}
	if t.Limit > 0 {
		long = min(long, t.Limit)
	}
	return long
}
