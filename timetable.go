package fairlead

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Timetable says when all waiting jobs will start if nothing new is submitted, by replays of
// the future to its end.
type Timetable struct {
	At time.Time // of the state that it is of

	row    map[int64]int32
	starts [][]int64 // by replay, then by row; 0: not known
	// endless is set if some task has no time limit: what starts a year later waits for it.
	endless bool
}

// How long the replays of a timetable may take, how many of them with run times as they were
// lately there are at most, and at least for a range, and how long a list waits for it.
const (
	tableTime   = 10 * time.Second
	rangesMost  = 20
	rangesLeast = 5
	tableWait   = 100 * time.Millisecond
)

// Timetable says by when each waiting job starts if every task runs as long as it may. It is
// nil if none could be made in time, and may be of a somewhat older state, see [Timetable.At].
func (l *Loop) Timetable(ctx context.Context) *Timetable {
	if err := l.sync(ctx); err != nil {
		l.log.Warn("the timetable is of an older state", "error", err)
	}
	wait := tableWait
	if _, waiting := l.Running(); waiting >= manyWaiting { // it takes seconds
		wait = hurriedTime
	}
	return l.timetable.ask(ctx, l, wait, l.beginTimetable)
}

// Coming is by when a job that waits starts.
type Coming struct {
	By   time.Time
	Kept bool // room is kept for it from then on
}

// Starts says by when the next tasks of jobs start, of those of which it is known: where room
// is kept, and else by the timetable.
func (l *Loop) Starts(ctx context.Context, jobs []*Job) map[int64]Coming {
	waits := func(j *Job) bool { return j.Waiting > 0 && j.Pending == 0 && !j.Held && !j.State.Ended() }
	if !slices.ContainsFunc(jobs, waits) {
		return nil
	}
	t := l.Timetable(ctx)
	l.mu.Lock()
	kept := l.core.Kept()
	l.mu.Unlock()
	now := time.Now()
	out := map[int64]Coming{}
	for _, j := range jobs {
		if !waits(j) {
			continue
		}
		if k, yes := kept[j.ID]; yes {
			out[j.ID] = Coming{k.From, true}
		} else if by, known := t.By(j.ID); known && !by.Before(now) {
			out[j.ID] = Coming{by, false}
		}
	}
	return out
}

// By is the instant by which a job starts.
func (t *Timetable) By(job int64) (time.Time, bool) {
	if t == nil || len(t.starts) == 0 {
		return time.Time{}, false
	}
	row, known := t.row[job]
	if !known || t.starts[0][row] == 0 || t.endless && t.starts[0][row] >= t.At.Add(sched.NoLimit/2).UnixNano() {
		return time.Time{}, false
	}
	return time.Unix(0, t.starts[0][row]), true
}

// tell puts into an estimate by when a job starts. It reports false if the timetable does not
// say, or what it says has turned out wrong: the instant is over.
func (t *Timetable) tell(out *why.Estimate, job int64, now time.Time) bool {
	by, known := t.By(job)
	if !known || by.Before(now) {
		return false
	}
	out.By, out.AsOf, out.Text = &by, &t.At, ""
	return true
}

// tellRange puts into an estimate between which instants a job starts.
func (t *Timetable) tellRange(out *why.Estimate, job int64, now time.Time) {
	if t == nil {
		return
	}
	row, known := t.row[job]
	if !known {
		return
	}
	var starts []time.Time
	for _, replay := range t.starts {
		if at := replay[row]; at != 0 {
			starts = append(starts, time.Unix(0, max(at, now.UnixNano())))
		}
	}
	if len(starts) >= rangesLeast {
		spread(out, starts)
	}
}

// beginTimetable takes what a timetable is made of out of the loop, which is locked. Where
// room is kept for every job that is it.
func (l *Loop) beginTimetable(now time.Time) func() *Timetable {
	t := &Timetable{At: now, row: map[int64]int32{}}
	if l.shares.Sched.Placement == sched.Conservative {
		kept := l.core.Kept()
		return func() *Timetable { t.take(kept); return t }
	}
	e := l.estimatorOf(0, now)
	return func() *Timetable {
		t.replay(e, time.Now(), func(x sched.Task) time.Time {
			t.endless = t.endless || x.Limit <= 0
			return x.Started.Add(limitOr(x, sched.NoLimit))
		})
		return t
	}
}

// take makes a timetable of the room that is kept.
func (t *Timetable) take(kept map[int64]why.Kept) {
	t.starts = [][]int64{make([]int64, 0, len(kept))}
	for job, k := range kept {
		t.row[job] = int32(len(t.starts[0]))
		t.starts[0] = append(t.starts[0], k.From.UnixNano())
	}
}

// beginRanges is beginTimetable for replays with run times as they were lately.
func (l *Loop) beginRanges(now time.Time) func() *Timetable {
	e, t := l.estimatorOf(0, now), &Timetable{At: now, row: map[int64]int32{}}
	return func() *Timetable {
		began, rng := time.Now(), e.random()
		for range rangesMost {
			t.replay(e, began, func(x sched.Task) time.Time { return x.Started.Add(e.sample(rng, x)) })
			if took := time.Since(began); took+took/time.Duration(len(t.starts)) > tableTime {
				break
			}
		}
		return t
	}
}

// replay plays the future once more, and notes when each job starts.
func (t *Timetable) replay(e *estimator, began time.Time, end func(sched.Task) time.Time) {
	starts := make([]int64, len(t.row))
	goOn := func(sched.Forecast) bool {
		runtime.Gosched() // whoever waits for an answer goes first
		return time.Since(began) < tableTime
	}
	e.future.Play(goOn, end, func(s sched.Start, at time.Time) bool {
		row, known := t.row[s.Job]
		if !known {
			row = int32(len(t.row))
			t.row[s.Job] = row
		}
		for int(row) >= len(starts) {
			starts = append(starts, 0)
		}
		if starts[row] == 0 {
			starts[row] = at.UnixNano()
		}
		return true
	})
	t.starts = append(t.starts, starts)
	for i, s := range t.starts {
		t.starts[i] = append(s, make([]int64, len(t.row)-len(s))...)
	}
}

// limitOr is the time limit of a task, or another one if it has none.
func limitOr(t sched.Task, other time.Duration) time.Duration {
	if t.Limit <= 0 {
		return other
	}
	return t.Limit
}

// spread adds between which instants a job starts, if there are enough replays.
func spread(out *why.Estimate, starts []time.Time) {
	if len(starts) == 0 {
		return
	}
	slices.SortFunc(starts, time.Time.Compare)
	at := func(part float64) *time.Time { return &starts[int(math.Floor(part*float64(len(starts)-1)+0.5))] }
	out.Early, out.Middle, out.Late, out.Replays = at(0.1), at(0.5), at(0.9), len(starts)
}
