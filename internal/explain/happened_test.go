package explain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
)

// story returns the history of a job, with one entry per line and the seconds since its submission, but without the
// reasons for which its pool waited.
func story(t *testing.T, ex *explain.Explainer, id int64) (lines []string) {
	t.Helper()
	return slices.DeleteFunc(whole(t, ex, id),
		func(line string) bool { return strings.Contains(strings.Fields(line)[1], ".") })
}

// whole returns the same with the reasons for which its pool waited.
func whole(t *testing.T, ex *explain.Explainer, id int64) (lines []string) {
	t.Helper()
	events, err := ex.History(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("%.0f %s %s", e.At.Sub(events[0].At).Seconds(), e.Code, e.Text))
	}
	return lines
}

func tells(t *testing.T, ex *explain.Explainer, id int64, want ...string) {
	t.Helper()
	if got := story(t, ex, id); !slices.Equal(got, want) {
		t.Errorf("the history of the job is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// alters changes jobs in the name of ann.
func alters(t *testing.T, l *engine.Loop, v queue.Verb, ids ...int64) {
	t.Helper()
	for _, id := range ids {
		if refused, err := l.Client().Alter(t.Context(), queue.Alteration{Job: id, Verb: v, By: "ann"}); err != nil ||
			refused[0] != nil {
			t.Fatal(refused, err)
		}
	}
	synctest.Wait()
}

// stopped is the stored text of an attempt that was stopped.
const stopped = "attempt 1 on local cancelled: " +
	"fairlead: the job was canceled or requeued, or has to make room for others"

// TestStopsAreToldOnce: a task is stopped, so that it would wait again, and is canceled meanwhile. Its attempt ended
// once, and its history reports that once, in the order of time.
func TestStopsAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 2, enginetest.Lasting)
		defer stop()
		id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "ann", Payload: []byte("1h"), Array: "0-1"})[0]
		time.Sleep(10 * time.Second)
		alters(t, loop, queue.VerbHold, id)
		alters(t, loop, queue.VerbRequeue, id)
		for range 2 {
			time.Sleep(10 * time.Second)
			alters(t, loop, queue.VerbCancel, id)
			time.Sleep(10 * time.Second)
			alters(t, loop, queue.VerbUncancel, id)
		}
		ends := map[string]int{}
		for _, line := range story(t, ex, id) {
			for _, code := range []string{" again ", " finished "} {
				if strings.Contains(line, code) {
					ends[line]++
				}
			}
		}
		if len(ends) != 2 || ends["10 again task 1: "+stopped] != 1 {
			t.Errorf("two attempts were stopped: %v", ends)
		}
	})
}

// TestStoppedBeforeItEnds: after its end, the only events of a job are the ones that bring it back.
func TestStoppedBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 1, enginetest.Lasting)
		defer stop()
		id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "ann", Payload: []byte("1h")})[0]
		time.Sleep(10 * time.Second)
		alters(t, loop, queue.VerbHold, id)
		alters(t, loop, queue.VerbCancel, id)
		time.Sleep(10 * time.Second)
		alters(t, loop, queue.VerbUncancel, id)
		tells(t, ex, id, "0 submitted by ann into ann", "0 started attempt 1 on local", "10 hold by ann",
			"10 cancel by ann", "10 again "+stopped,
			"10 ended canceled by ann", "20 uncancel by ann")
	})
}

// TestStartsStay: a task is tried again, requeued and brought back. Each attempt has begun, and the job's history says
// when.
func TestStartsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 1, func(ctx context.Context, l *fairlead.Lease) error {
			if fails {
				fails = false
				return errors.New("no luck")
			}
			return enginetest.Lasting(ctx, l)
		})
		defer stop()
		id := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Pool: "ann", Payload: []byte("1h"), Retries: 1,
			Backoff: 3 * time.Second})[0]
		for _, v := range []queue.Verb{queue.VerbRequeue, queue.VerbCancel, queue.VerbUncancel} {
			time.Sleep(10 * time.Second)
			alters(t, loop, v, id)
		}
		var starts []string
		for _, line := range story(t, ex, id) {
			if strings.Contains(line, " started ") {
				starts = append(starts, line)
			}
		}
		if want := []string{"0 started attempt 1 on local", "3 started attempt 2 on local",
			"10 started attempt 3 on local", "30 started attempt 4 on local"}; !slices.Equal(starts, want) {
			t.Errorf("started %q, want %q", starts, want)
		}
	})
}

// TestEndsWithoutAStart: a waiting job ends if it is canceled, or if the job that it depends on is canceled. Its
// history says when and why it ended.
func TestEndsWithoutAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 1, enginetest.Lasting)
		defer stop()
		job := fairlead.Job{User: "ann", Pool: "ann", Payload: []byte("1h")}
		held, after, runs, array := job, job, job, job
		held.Held = true
		a := enginetest.Submit(t, loop, held)[0]
		after.After = []fairlead.Dependency{{Job: a, On: queue.OnOK}}
		b := enginetest.Submit(t, loop, after)[0]
		time.Sleep(10 * time.Second)
		alters(t, loop, queue.VerbCancel, a)
		ends := func(id int64, want string) {
			t.Helper()
			all := story(t, ex, id)
			if n := len(all) - 1; all[n] != want || n > 0 && all[n-1] == want {
				t.Errorf("the history of the job is\n%s\nwant, at its end,\n%s", strings.Join(all, "\n"), want)
			}
		}
		ends(a, "10 ended canceled by ann")
		ends(b, fmt.Sprintf("10 ended canceled: it waited for job %d (ok), which ended as cancelled", a))
		// A job is requeued while it runs, and ends later: the history already has the attempt.
		c := enginetest.Submit(t, loop, runs)[0]
		time.Sleep(10 * time.Second)
		alters(t, loop, queue.VerbHold, c)
		alters(t, loop, queue.VerbRequeue, c)
		time.Sleep(10 * time.Second)
		alters(t, loop, queue.VerbCancel, c)
		ends(c, "20 ended canceled by ann")
		array.Array, array.Payload = "0-2", []byte("10s")
		d := enginetest.Submit(t, loop, array)[0]
		time.Sleep(15 * time.Second)
		alters(t, loop, queue.VerbCancel, d)
		ends(d, "15 ended canceled by ann (tasks: 1 succeeded, 0 failed, 2 canceled)")
		e := enginetest.Submit(t, loop, job)[0]
		time.Sleep(2 * time.Hour)
		ends(e, "3600 finished succeeded")
	})
}

// TestMoved: the history of a moved job shows the reasons of each pool for the time that the job was in it.
func TestMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 1, enginetest.Lasting)
		defer stop()
		long := fairlead.Job{User: "ann", Pool: "lp", Payload: []byte("1h")}
		other := long
		other.Pool = "games"
		enginetest.Submit(t, loop, long, long)
		id := enginetest.Submit(t, loop, other)[0]
		time.Sleep(time.Minute)
		move := queue.Alteration{Job: id, Verb: queue.VerbMove, Pool: "lp", By: "ann", Admin: true}
		if refused, err := loop.Client().Alter(t.Context(), move); err != nil || refused[0] != nil {
			t.Fatal(refused, err)
		}
		time.Sleep(time.Minute)
		tells(t, ex, id, "0 submitted by ann into games", "60 move from games to lp: by ann")
		var reasons []string
		for _, line := range whole(t, ex, id) {
			if w := strings.Fields(line); strings.Contains(w[1], ".") {
				reasons = append(reasons, w[0]+" "+w[1])
			}
		}
		if want := []string{"8 capacity.full", "60 share.behind", "68 order.behind"}; !slices.Equal(reasons, want) {
			t.Errorf("it waited for %q, want %q", reasons, want)
		}
	})
}

// TestPriorityChanged: the history of a job keeps the reasons of its former priority, and names that priority.
func TestPriorityChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, ex, stop := remembering(t, engine.LoopOptions{}, 1, enginetest.Lasting)
		defer stop()
		normal := fairlead.Job{User: "ann", Pool: "lp", Payload: []byte("1h")}
		high := normal
		high.Priority = "high"
		enginetest.Submit(t, loop, normal)
		time.Sleep(time.Second)
		enginetest.Submit(t, loop, high)
		id := enginetest.Submit(t, loop, normal)[0]
		change := queue.Alteration{Job: id, Verb: queue.VerbPrioritise, Priority: "low", By: "ann"}
		nice := change
		nice.Priority, nice.Nice = "", new(5)
		for _, c := range []queue.Alteration{nice, change} {
			time.Sleep(time.Minute)
			if refused, err := loop.Client().Alter(t.Context(), c); err != nil || refused[0] != nil {
				t.Fatal(refused, err)
			}
		}
		time.Sleep(time.Minute)
		tells(t, ex, id, "0 submitted by ann into lp", `60 prioritise nice 5: by ann`,
			"120 prioritise from normal to low: by ann")
		before := slices.IndexFunc(whole(t, ex, id), func(line string) bool {
			w := strings.Fields(line)
			at, _ := strconv.Atoi(w[0])
			return at < 60 && strings.Contains(w[1], ".")
		})
		if before < 0 {
			t.Errorf("the reasons before the changes are lost:\n%s", strings.Join(whole(t, ex, id), "\n"))
		}
	})
}

// TestCanceledArrays: if somebody canceled the rest of an array, the array counts as canceled, even if tasks had failed
// before.
func TestCanceledArrays(t *testing.T) {
	j := queue.Job{ID: 7, Tasks: 6, State: queue.Failed, Failed: 3, Cancelled: 3, Cause: "by root",
		Ended: time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)}
	tasks := "(tasks: 0 succeeded, 3 failed, 3 canceled)"
	if got, want := explain.EndedReason(&j, nil).Text, "canceled 2026-01-05T08:00:00Z by root "+tasks; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := j.EndEvent().Text, "canceled by root "+tasks; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	j.Cause = "exit status 3" // only one task was canceled
	if got, want := j.EndEvent().Text, "failed: exit status 3 "+tasks; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNextStepOfEnded: a job is read about in its output, or in its history if it has no output.
func TestNextStepOfEnded(t *testing.T) {
	began := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	task := queue.Task{Job: 7, Started: began, Ended: began.Add(time.Second)}
	refused, missing := task, task
	refused.Outcome.Refused, missing.Outcome.NotFound = queue.RefusedJob, true
	for _, c := range []struct {
		began time.Time
		tasks []queue.Task
		want  string
	}{
		{began, []queue.Task{task}, "fairlead logs 7"},
		{began, nil, "fairlead logs 7"},
		{time.Time{}, []queue.Task{{Job: 7}}, "fairlead history -j 7"},
		{began, []queue.Task{refused}, "fairlead history -j 7"},
		{began, []queue.Task{missing}, "fairlead history -j 7"},
	} {
		j := queue.Job{ID: 7, Tasks: 1, State: queue.Failed, Started: c.began, Ended: task.Ended}
		if got := explain.EndedReason(&j, c.tasks).Next; got != c.want {
			t.Errorf("after %+v: %s, want %s", c.tasks, got, c.want)
		}
	}
}
