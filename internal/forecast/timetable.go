package forecast

import (
	"runtime"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// timetable predicts when all waiting jobs will start if no job is submitted, by replays of the future to its end.
type timetable struct {
	at time.Time // instant of its state

	row    map[int64]int32
	starts [][]int64 // by replay, then by row; 0: unknown
	moves  bool      // the order of the jobs changes as tasks run
	known  knowledge // of the run times that the replays drew
	// endless is set if some task has no time limit. The replay lets such a task run for a year, so a start that late
	// means that the job waits for the task.
	endless bool
	// likely are the starts if every task runs for as long as usual, by row; 0: unknown. They are computed if endless
	// is set and something is known of run times. Some of these are guesses if nothing is known of some run times.
	likely []int64
}

// Bounds of the replays of a timetable: their duration, the maximum number of them with recent run times, and the
// minimum number for a range. The last constant is how long a list waits for a timetable.
const (
	tableTime   = 10 * time.Second
	maxRanges   = 20
	rangesLeast = 5
	tableWait   = 100 * time.Millisecond
)

// By returns the latest start of a job.
func (t *timetable) By(job int64) (time.Time, bool) {
	if t == nil || len(t.starts) == 0 {
		return time.Time{}, false
	}
	row, known := t.row[job]
	if !known || t.starts[0][row] == 0 || t.endless && t.starts[0][row] >= t.at.Add(sched.NoLimit/2).UnixNano() {
		return time.Time{}, false
	}
	return time.Unix(0, t.starts[0][row]), true
}

// Likely returns when a job probably starts, if no latest start is known. That is little more than a guess if no
// run time was known of some pool.
func (t *timetable) Likely(job int64) (time.Time, bool) {
	if t == nil {
		return time.Time{}, false
	}
	row, known := t.row[job]
	if !known || int(row) >= len(t.likely) || t.likely[row] == 0 {
		return time.Time{}, false
	}
	return time.Unix(0, t.likely[row]), true
}

// fill sets the latest start of a job in an estimate. It reports false if the timetable does not have the job, or was
// wrong: the instant has passed.
func (t *timetable) fill(out *why.Estimate, job int64, now time.Time) bool {
	by, known := t.By(job)
	if !known || by.Before(now) {
		return false
	}
	out.By, out.AsOf, out.Text, out.MayMove = &by, &t.at, "", t.moves
	return true
}

// fillRange sets the range of start times of a job in an estimate.
func (t *timetable) fillRange(out *why.Estimate, job int64, now time.Time) {
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
		t.known.mark(out)
	}
}

// mayMove reports whether the order of the jobs can change, so that planned starts move.
func mayMove(kept map[int64]room.Kept) bool {
	for _, k := range kept {
		return k.MayMove // the value is the same for all
	}
	return false
}

// take fills the timetable from the promised starts.
func (t *timetable) take(kept map[int64]room.Kept) {
	t.moves = mayMove(kept)
	t.starts = [][]int64{make([]int64, 0, len(kept))}
	for job, k := range kept {
		if k.Predicted {
			continue // that is no latest start
		}
		t.row[job] = int32(len(t.starts[0]))
		t.starts[0] = append(t.starts[0], k.From.UnixNano())
	}
}

// forgetFrom forgets the starts from an instant on, except starts at the present instant.
func (t *timetable) forgetFrom(at time.Time) {
	for row, start := range t.starts[0] {
		if start >= at.UnixNano() && start > t.at.UnixNano() {
			t.starts[0][row] = 0
		}
	}
}

// replay plays the future once more, and records when each job starts.
func (t *timetable) replay(e *estimator, began time.Time, end func(sched.Task) time.Time) sched.Forecast {
	starts := make([]int64, len(t.row))
	goOn := func(sched.Forecast) bool {
		runtime.Gosched() // callers who wait for an answer go first
		return time.Since(began) < tableTime
	}
	played := e.future.Play(goOn, end, func(s sched.Start, at time.Time) bool {
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
	return played
}
