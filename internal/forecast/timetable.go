package forecast

import (
	"runtime"
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// timetable says when all waiting jobs will start if nothing new is submitted, by replays of
// the future to its end.
type timetable struct {
	at time.Time // of the state that it is of

	row    map[int64]int32
	starts [][]int64 // by replay, then by row; 0: not known
	// endless is set if some task has no time limit: what starts a year later waits for it.
	endless bool
}

// How long the replays of a timetable may take, how many of them with run times as they were
// lately there are at most, and at least for a range, and how long a list waits for it.
const (
	tableTime   = 10 * time.Second
	maxRanges   = 20
	rangesLeast = 5
	tableWait   = 100 * time.Millisecond
)

// By is the instant by which a job starts.
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

// fill puts into an estimate by when a job starts. It reports false if the timetable does not
// say, or what it says has turned out wrong: the instant is over.
func (t *timetable) fill(out *why.Estimate, job int64, now time.Time) bool {
	by, known := t.By(job)
	if !known || by.Before(now) {
		return false
	}
	out.By, out.AsOf, out.Text = &by, &t.at, ""
	return true
}

// fillRange puts into an estimate between which instants a job starts.
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
	}
}

// take makes a timetable of the room that is kept.
func (t *timetable) take(kept map[int64]why.Kept) {
	t.starts = [][]int64{make([]int64, 0, len(kept))}
	for job, k := range kept {
		t.row[job] = int32(len(t.starts[0]))
		t.starts[0] = append(t.starts[0], k.From.UnixNano())
	}
}

// replay plays the future once more, and notes when each job starts.
func (t *timetable) replay(e *estimator, began time.Time, end func(sched.Task) time.Time) {
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
