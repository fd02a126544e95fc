package sharetest

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/plot"
	"github.com/fairlead/fairlead/internal/wait"
)

// recorder is a QS that records its submissions and their times.
type recorder struct {
	bridge.QS
	progress chan struct{} // has an element when a job has ended

	mu      sync.Mutex
	jobs    map[string]*job     // by marker
	arrived map[int64]time.Time // at the server
	over    int
	fails   int
}

type job struct {
	id               int64
	group            string
	began, end, seen time.Time
}

// came records that a job has come to the server.
func (r *recorder) came(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived[id] = time.Now()
}

// Submit implements bridge.QS.
func (r *recorder) Submit(ctx context.Context, all []bridge.Submission) ([]bridge.Receipt, error) {
	receipts, err := r.QS.Submit(ctx, all)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range all {
		r.jobs[s.Marker] = &job{id: s.Job.ID, group: s.Job.Pool}
	}
	return receipts, err
}

// Look implements bridge.QS.
func (r *recorder) Look(ctx context.Context, all []bridge.Entry) ([]bridge.Status, error) {
	got, err := r.QS.Look(ctx, all)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, s := range got {
		j := r.jobs[all[i].Marker]
		if j == nil || !j.seen.IsZero() || s.Phase != bridge.Succeeded && s.Phase != bridge.Failed {
			continue
		}
		if s.Phase == bridge.Failed {
			r.fails++
		}
		j.began, j.end, j.seen = s.Began, s.Ended, time.Now()
		r.over++
		wait.Wake(r.progress)
	}
	return got, err
}

func (r *recorder) ended() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// first returns when the first job began.
func (r *recorder) first() (first time.Time) {
	for _, j := range r.jobs {
		if first.IsZero() || j.began.Before(first) {
			first = j.began
		}
	}
	return first
}

// received returns the part of the service until an instant that each fair-share group received; the parts
// sum to 1.
func (r *recorder) received(until time.Time) map[string]float64 {
	had, all := map[string]float64{}, 0.0
	for _, j := range r.jobs {
		end := j.end
		if end.After(until) {
			end = until
		}
		if took := end.Sub(j.began).Seconds(); took > 0 && j.group != above {
			had[j.group] += took
			all += took
		}
	}
	for name := range had {
		had[name] /= all
	}
	return had
}

// passed counts the pairs of a fair-share job and a priority job in which the first began while the second
// waited, outside the uncertainty of the times.
func (r *recorder) passed(unsharp time.Duration) (n int) {
	for _, u := range r.jobs {
		if u.group != above {
			continue
		}
		for _, j := range r.jobs {
			if j.group != above && j.began.After(r.arrived[u.id].Add(unsharp)) && j.began.Before(u.began.Add(-unsharp)) {
				n++
			}
		}
	}
	return n
}

// check checks that the groups received their shares, and logs them.
func (r *recorder) check(t *testing.T, rig Rig, until time.Time) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := map[int64]bool{}
	for _, j := range r.jobs {
		ids[j.id] = true
		if j.began.IsZero() || j.end.Before(j.began) {
			t.Fatalf("job %d ran from %v to %v", j.id, j.began, j.end)
		}
	}
	if want := each*len(groups) + urgent; len(r.jobs) != want || len(ids) != want || r.fails != 0 {
		t.Errorf("%d submissions of %d jobs, want %d; %d failed", len(r.jobs), len(ids), want, r.fails)
	}
	got, worst := r.received(until), 0.0
	line := ""
	for _, g := range groups {
		line += fmt.Sprintf("%s %.1f%%, ", g.Name, 100*got[g.Name])
		worst = math.Max(worst, math.Abs(100*got[g.Name]-g.Weight))
	}
	wait, passed := r.waits(), r.passed(rig.Unsharp)
	t.Logf("figure: %sin %.1f s; %.1f points off; the priority group waited %.2f s at most, and was passed %d times", line,
		until.Sub(r.first()).Seconds(), worst, wait.Seconds(), passed)
	if worst > rig.Tolerance {
		t.Errorf("the groups are %.1f points off their parts", worst)
	}
	if passed > 0 {
		t.Errorf("%d fair-share jobs began while one of the priority group waited", passed)
	}
}

// waits returns the longest wait of a job of the priority group.
func (r *recorder) waits() (longest time.Duration) {
	for _, j := range r.jobs {
		if j.group == above {
			longest = max(longest, j.began.Sub(r.arrived[j.id]))
		}
	}
	return longest
}

// picture plots over time the service that the groups had received.
func (r *recorder) picture(rig Rig, feed string, until time.Time) plot.Figure {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.first()
	total := until.Sub(first).Seconds()
	c := plot.Chart{
		Title: fmt.Sprintf("%d jobs in bursts through %s, fed %s", each*len(groups)+urgent, rig.Name, feed),
		Note:  "What three groups that all want more have received so far, beside their parts (50, 30 and 20%).",
		Width: 720, Height: 360, X: plot.Axis{Label: "since the first job began", Unit: plot.Seconds},
		Y: plot.Axis{Unit: plot.Percent, From: 0, To: 0.75},
	}
	for i, g := range groups {
		s := plot.Series{Name: g.Name, Style: i + 1}
		for k := 1; k <= 200; k++ {
			at := total * float64(k) / 200
			s.Points = append(s.Points, plot.Point{
				X: at, Y: r.received(first.Add(time.Duration(at * float64(time.Second))))[g.Name],
			})
		}
		c.Series = append(c.Series, s, plot.Series{
			Name: fmt.Sprintf("%s, %g%%", g.Name, g.Weight), Style: len(groups) + i + 1, Points: []plot.Point{
				{X: 0, Y: g.Weight / 100}, {X: total, Y: g.Weight / 100},
			},
		})
	}
	return c
}
