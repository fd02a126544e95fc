package forecast

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// Bounds of the work of an estimate: the time for the replay with time limits, the total time for replays with real run
// times, and the number of these.
const (
	estimateTime = 80 * time.Millisecond
	maxEstimate  = 200
	// hurriedTime replaces these times if many jobs wait. Replays then rarely finish: a replay finds a result at once
	// or not at all.
	hurriedTime = 10 * time.Millisecond
)

// tables predict when jobs start, from replays that all jobs share.
type tables interface {
	// fresh fills in the latest start of a job, if there is a table of the present state.
	fresh(out *why.Estimate, job int64, began time.Time) bool
	// any fills in the same from the last table. If there is none, it starts computing one, which takes seconds.
	any(out *why.Estimate, job int64, began time.Time) bool
	// between fills in the range of starts. The replays for it are computed for later callers.
	between(out *why.Estimate, job int64, began time.Time)
}

// estimator makes an estimate without blocking the engine.
type estimator struct {
	future  *sched.Future
	rooms   *borrowed // for more copies
	job     int64
	began   time.Time // of the answer
	lengths engine.Lengths
	known   knowledge // of the run times that were drawn
	mean    time.Duration
	kept    *room.Kept // the room that is kept for the job; nil: none
	planned bool       // room is kept for every job
	// unlimited is set if the job has no latest start because some tasks have no time limit.
	unlimited bool
	others    *alternatives
	tables    tables // used if many tasks wait; otherwise nil
	hurried   bool   // many tasks wait
}

// timeout returns how long a replay may take, or how long to wait for it.
func (e *estimator) timeout(usual time.Duration) time.Duration {
	if e.hurried {
		return hurriedTime
	}
	return usual
}

// estimate predicts when the job starts.
func (e *estimator) estimate() *why.Estimate {
	out, done := &why.Estimate{}, true
	switch {
	case e.planned && e.kept != nil && (!e.kept.MayMove || e.tables != nil):
		// A replay would find the same instant or, with many tasks, nothing in time.
		if e.kept.Predicted {
			e.endless(out)
		} else {
			e.asPlanned(out)
		}
	case e.tables == nil || !e.tables.fresh(out, e.job, e.began):
		if done = e.bound(out); !done && e.tables != nil && !e.tables.any(out, e.job, e.began) {
			out.Text += " (the forecast ran out of time; ask again in a few seconds)"
		}
	}
	switch {
	case e.tables != nil && len(e.lengths) > 0:
		e.tables.between(out, e.job, e.began)
	case e.tables != nil:
	case done || !e.hurried: // otherwise further replays would not reach the job either
		e.replay(out)
	}
	if e.unlimited && out.By == nil {
		out.Text = e.room(out) + out.Text
	}
	return out
}

// bound adds when the job starts if every task runs until its time limit. It reports whether the time sufficed. If jobs
// can pass each other, a task without a limit that runs or starts before the job spoils the bound: the replay lets it
// go before others because of its predicted run time, but it may run for longer. So the start in the replay is no
// latest start, and only a promise is valid.
func (e *estimator) bound(out *why.Estimate) bool {
	unlimited, begun := false, time.Now()
	goOn := func(sched.Forecast) bool { return time.Since(begun) < e.timeout(estimateTime) }
	bound := e.future.Forecast(e.job, goOn, func(t sched.Task) time.Time {
		if t.Limit <= 0 {
			unlimited = true
			return t.Started.Add(sched.NoLimit)
		}
		return t.Started.Add(t.Limit)
	})
	done := bound.Found || time.Since(begun) < e.timeout(estimateTime)
	latest := bound.Found && (!unlimited || !bound.At.After(e.began) ||
		bound.InTurn && bound.At.Before(e.began.Add(sched.NoLimit/2)))
	switch from := basisOf(e.kept, found{latest: latest}); {
	case from == replayed && !(e.planned && e.kept != nil && e.kept.From.Equal(bound.At)):
		out.By, out.Node = &bound.At, strings.Join(bound.Nodes, ", ")
		out.MayMove = !bound.ByArrival && bound.Starts > 1 // others start before it
	case from == replayed || from == planned && !e.kept.Predicted:
		e.asPlanned(out)
	case unlimited:
		e.endless(out)
	case bound.At.After(e.began) || !done:
		out.Text = "not before " + instant.Text(bound.At)
	default:
		out.Text = "never with the present nodes and limits, even if no new job goes ahead"
	}
	return done
}

// asPlanned adds the planned start as the latest one.
func (e *estimator) asPlanned(out *why.Estimate) {
	out.By, out.Node = &e.kept.From, strings.Join(e.kept.Nodes, ", ")
	out.Kept, out.MayMove = e.planned, e.planned && e.kept.MayMove
}

// endless says that there is no latest start.
func (e *estimator) endless(out *why.Estimate) {
	e.unlimited = true
	out.Text = "at no guaranteed time: running tasks, or tasks ahead of it, have no time limit (submit -t)"
}

// room says when the room that predictions keep for the job becomes free. It names no instant if replays know more
// about the start.
func (e *estimator) room(out *why.Estimate) string {
	var f found
	if k := e.kept; k == nil || !k.Predicted {
		return ""
	} else if out.Middle != nil {
		f.likely, f.later = !unknown(out), afterPlanned(k, *out.Middle)
	}
	switch {
	case basisOf(e.kept, f) == planned:
		return "about " + instant.Text(e.kept.From) + ", when its planned room is free; "
	case e.kept.Overdue && !e.kept.Tentative():
		return "when its planned room is free; "
	}
	return ""
}

// replay adds the range of starts with past run times.
func (e *estimator) replay(out *why.Estimate) {
	if len(e.lengths) == 0 {
		return
	}
	var starts []time.Time
	began := time.Now()
	goOn := func(sched.Forecast) bool { return time.Since(began) < e.timeout(estimateTime) }
	for len(starts) < maxEstimate && goOn(sched.Forecast{}) {
		d := newDraws(len(starts))
		f := e.future.Forecast(e.job, goOn, func(t sched.Task) time.Time { return t.Started.Add(e.sample(d, t)) })
		if !f.Found {
			break
		}
		starts = append(starts, f.At)
	}
	spread(out, starts)
	e.known.mark(out)
}

// sample draws a run time for a task in one replay: that of a past task of its pool that ran longer than this one
// already has. If n such run times are known, the tasks of the pool outlast all of them in one of n+1 replays, because
// each of n+1 tasks is equally likely to be the longest. Then they take up to ten times the longest of these run times
// or, if none is known, up to ten times their present run time (see [luck]). They take at least the mean, and at most
// their limits.
func (e *estimator) sample(d *draws, t sched.Task) time.Duration {
	of := d.of(t.Pool)
	return e.length(t, func(known []time.Duration) time.Duration {
		if of.outlasts(len(known)) {
			return of.outlasting(slices.Max(known))
		}
		return known[d.rng.IntN(len(known))]
	}, of.outlasting)
}

// typical is the run time of a task that is in the middle of the values that sample draws.
func (e *estimator) typical(t sched.Task) time.Duration {
	return e.length(t, func(known []time.Duration) time.Duration {
		slices.Sort(known)
		return known[len(known)/2]
	}, func(ran time.Duration) time.Duration { return 2 * ran })
}

// The method length returns the run time of a task. The function "pick" chooses it among the longer run times of the
// task's pool. If there are none, the function "outlast" computes it from the present run time.
func (e *estimator) length(t sched.Task, pick func([]time.Duration) time.Duration,
	outlast func(time.Duration) time.Duration) (long time.Duration) {
	ran := max(0, e.began.Sub(t.Started))
	known := e.lengths.Known(t.Pool, ran)
	e.known.note(len(known))
	if len(known) > 0 {
		long = pick(known)
	} else {
		long = max(e.mean, outlast(ran))
	}
	if t.Limit > 0 {
		long = min(long, t.Limit)
	}
	return long
}

// alternatives holds the data for trying other requests for a job.
type alternatives struct {
	of   *queue.Job
	own  sched.Job
	asks sched.Request
	unit string
	// everyone is set if room is kept for every job.
	everyone bool
	pools    []sched.Job // the job in other pools that its user may use
	paths    []string    // of these pools
	higher   sched.Job   // the job with the next higher priority
	raised   string      // the name of that priority; "": there is none, or it would not help
}

// limitOr is the time limit of a task, or another one if it has none.
func limitOr(t sched.Task, other time.Duration) time.Duration {
	if t.Limit <= 0 {
		return other
	}
	return t.Limit
}

// spread adds the range of start times, if there are enough replays.
func spread(out *why.Estimate, starts []time.Time) {
	if len(starts) == 0 {
		return
	}
	slices.SortFunc(starts, time.Time.Compare)
	at := func(part float64) *time.Time { return &starts[int(math.Floor(part*float64(len(starts)-1)+0.5))] }
	out.Early, out.Middle, out.Late, out.Replays = at(0.1), at(0.5), at(0.9), len(starts)
}
