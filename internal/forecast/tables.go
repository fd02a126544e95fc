package forecast

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// Timetable returns by when each waiting job starts if every task runs until its time limit. It is nil if none could be
// computed in time. It may describe an older state; it contains the instant of that state.
func (fc *Forecaster) Timetable(ctx context.Context) *timetable {
	if err := fc.loop.Refresh(ctx); err != nil {
		fc.loop.Log.Warn("the timetable is of an older state", "error", err)
	}
	wait := tableWait
	if _, waiting := fc.loop.Running(); waiting >= explain.ManyWaiting { // then a timetable takes seconds
		wait = hurriedTime
	}
	return fc.timetable.Ask(ctx, fc.loop, wait, fc.beginTimetable)
}

// Starts returns the latest starts of the next tasks of jobs, as far as known. It takes them from planned starts, and
// for other jobs from the timetable.
func (fc *Forecaster) Starts(ctx context.Context, jobs []*queue.Job) map[int64]Coming {
	waits := func(j *queue.Job) bool { return j.Waiting > 0 && j.Pending == 0 && !j.Held && !j.State.Ended() }
	if !slices.ContainsFunc(jobs, waits) {
		return nil
	}
	t := fc.Timetable(ctx)
	kept := engine.Read(fc.loop, func(s *engine.State) map[int64]room.Kept { return s.Core.Read().Kept() })
	now := time.Now()
	out := map[int64]Coming{}
	for _, j := range jobs {
		if !waits(j) {
			continue
		}
		if c, known := t.coming(kept, j.ID, now); known {
			out[j.ID] = c
		}
	}
	return out
}

// coming is the start of a job as [why.Estimate] has it.
func (t *timetable) coming(kept map[int64]room.Kept, job int64, now time.Time) (Coming, bool) {
	var k *room.Kept
	if of, is := kept[job]; is {
		k = &of
	}
	by, latest := t.By(job)
	likely, is := t.Likely(job)
	is = is && !likely.Before(now)
	switch basisOf(k, found{
		latest: latest && !by.Before(now),
		likely: is && !t.known.missing(),
		later:  is && k != nil && afterPlanned(k, likely),
	}) {
	case replayed:
		return Coming{By: by, Kept: k != nil}, true
	case usual:
		return Coming{likely, k != nil, true}, true
	case planned:
		return Coming{k.From, true, k.Predicted}, true
	}
	return Coming{}, false
}

// beginTimetable copies the data for a timetable from the state. If room is kept for every job, and the order of the
// jobs cannot change, the planned starts are the timetable. The planned starts are also the timetable if many jobs
// wait, because a replay would plan all of them again and again, and would not finish.
func (fc *Forecaster) beginTimetable(s *engine.State, now time.Time) func() *timetable {
	if s.Shares.Sched.Backfill == sched.Conservative {
		t, kept := &timetable{at: now, row: map[int64]int32{}}, s.Core.Read().Kept()
		if s.Core.View(sched.Root).Waiting >= explain.ManyWaiting || !mayMove(kept) {
			return func() *timetable { t.take(kept); return t }
		}
	}
	return fc.replayed(s, now)
}

// replayed copies the data for a timetable, which a replay makes, from the state.
func (fc *Forecaster) replayed(s *engine.State, now time.Time) func() *timetable {
	t := &timetable{at: now, row: map[int64]int32{}}
	rooms := fc.borrow()
	e := fc.estimatorOf(s, 0, now, rooms)
	return func() *timetable {
		defer rooms.drop()
		var endless time.Time // start of the first task without a time limit
		began := time.Now()
		played := t.replay(e, began, func(x sched.Task) time.Time {
			if x.Limit <= 0 && (endless.IsZero() || x.Started.Before(endless)) {
				endless = x.Started
			}
			return x.Started.Add(limitOr(x, sched.NoLimit))
		})
		t.moves, t.endless = !played.ByArrival, !endless.IsZero()
		if t.endless && !played.InTurn {
			t.forgetFrom(endless) // see bound
		}
		if t.endless && len(e.lengths) > 0 {
			t.addLikely(e, began)
		}
		return t
	}
}

// addLikely adds the likely starts.
func (t *timetable) addLikely(e *estimator, began time.Time) {
	t.replay(e, began, func(x sched.Task) time.Time { return x.Started.Add(e.typical(x)) })
	last := len(t.starts) - 1
	t.likely, t.known, t.starts = t.starts[last], e.known, t.starts[:last]
}

// beginRanges is beginTimetable for replays with recent run times.
func (fc *Forecaster) beginRanges(s *engine.State, now time.Time) func() *timetable {
	rooms := fc.borrow()
	e, t := fc.estimatorOf(s, 0, now, rooms), &timetable{at: now, row: map[int64]int32{}}
	return func() *timetable {
		defer rooms.drop()
		began := time.Now()
		for i := range maxRanges {
			d := newDraws(i)
			t.replay(e, began, func(x sched.Task) time.Time { return x.Started.Add(e.sample(d, x)) })
			t.known = e.known
			if took := time.Since(began); took+took/time.Duration(len(t.starts)) > tableTime {
				break
			}
		}
		return t
	}
}

// fresh, any and between implement tables for estimates while many tasks wait.
func (fc *Forecaster) fresh(out *why.Estimate, job int64, began time.Time) bool {
	t, fresh := fc.timetable.Peek(fc.loop)
	return fresh && t.fill(out, job, began)
}

func (fc *Forecaster) any(out *why.Estimate, job int64, began time.Time) bool {
	return fc.timetable.Ask(context.Background(), fc.loop, 0, fc.beginTimetable).fill(out, job, began)
}

func (fc *Forecaster) between(out *why.Estimate, job int64, began time.Time) {
	fc.ranges.Ask(context.Background(), fc.loop, 0, fc.beginRanges).fillRange(out, job, began)
}

// Coming is the latest or, if Predicted is set, the likely start of a waiting job.
type Coming struct {
	By   time.Time
	Kept bool // room is kept for the job
	// Predicted means that By rests on predicted run times: it is the likely start, not the latest.
	Predicted bool
}
