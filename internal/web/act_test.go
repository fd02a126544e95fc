package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// TestActSaysWhatCameOfIt checks that a job that has ended cannot be held, and that a canceled job can be
// brought back, with the verbs of the command line.
func TestActSaysWhatCameOfIt(t *testing.T) {
	l := newLab(t, cluster)
	id := fmt.Sprint(l.submit("ann", api.Spec{Pool: "physics/curie"}))
	_, _, text := l.get("/act?verb=cancel&job=" + id)
	shows(t, text, "If you undo the cancel, waiting tasks wait again")
	status, text := l.post("/act", url.Values{"verb": {"cancel"}, "job": {id}})
	shows(t, text, "Cancel: done", "fairlead uncancel "+id, "Undo: uncancel")
	if status != http.StatusOK {
		t.Errorf("to cancel: %d", status)
	}
	_, _, text = l.get("/act?verb=uncancel&job=" + id)
	shows(t, text, "Uncancel 1 job?", "waits again, without the tasks that had ended")
	_, text = l.post("/act", url.Values{"verb": {"uncancel"}, "job": {id}})
	shows(t, text, "Uncancel: done", "fairlead cancel "+id)
	if _, text = l.post("/act", url.Values{"verb": {"uncancel"}, "job": {id}}); !strings.Contains(text,
		"is not canceled") {
		t.Errorf("what was not canceled is brought back:\n%s", text)
	}
	l.post("/act", url.Values{"verb": {"cancel"}, "job": {id}})
	for _, verb := range []string{"hold", "cancel"} {
		status, text := l.post("/act", url.Values{"verb": {verb}, "job": {id}})
		shows(t, text, "nothing was changed")
		if status != http.StatusConflict || strings.Contains(text, "Undo") {
			t.Errorf("%s what has ended: %d\n%s", verb, status, text)
		}
	}
}

// TestActCancelsOnlyWaiting: the page of a job with running and waiting tasks offers to cancel the waiting ones, and
// afterwards to bring them back.
func TestActCancelsOnlyWaiting(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n1", map[string]int64{"cpu": 2})
	id := fmt.Sprint(l.submit("ann", api.Spec{Array: "0-5"}))
	l.wait("two tasks run", func() bool {
		r, err := l.client.Jobs.Get(t.Context(), 1)
		return err == nil && r.Job.Running == 2
	})
	_, _, text := l.get("/jobs/" + id)
	shows(t, text, "Cancel waiting tasks</a>")
	_, _, text = l.get("/act?verb=cancel-waiting&job=" + id)
	shows(t, text, "Cancel waiting tasks of 1 job?", "4 tasks never start; 2 tasks continue",
		"Cancel waiting tasks of job "+id)
	_, text = l.post("/act", url.Values{"verb": {"cancel-waiting"}, "job": {id}})
	shows(t, text, "done", "fairlead uncancel "+id, "Undo: uncancel")
	if strings.Contains(text, "must stop first") {
		t.Errorf("running tasks are stopped:\n%s", text)
	}
	_, _, text = l.get("/jobs/" + id)
	shows(t, text, "4 canceled", "Uncancel</a>", "4 of its 6 tasks were canceled")
	if strings.Contains(text, "Cancel waiting tasks</a>") {
		t.Error("a job without a waiting task offers to cancel these")
	}
	_, _, text = l.get("/act?verb=uncancel&job=" + id)
	shows(t, text, "its canceled tasks wait again")
	_, text = l.post("/act", url.Values{"verb": {"uncancel"}, "job": {id}})
	shows(t, text, "Uncancel: done")
	_, _, text = l.get("/jobs/" + id)
	shows(t, text, "4 wait, 2 run")
}

// TestUncancelSaysWhoWaitsForWhom checks the question for a cancelled job that depends on another cancelled job: alone,
// the job may not come back; together with the other job it waits again.
func TestUncancelSaysWhoWaitsForWhom(t *testing.T) {
	l := newLab(t, cluster)
	first := l.submit("ann", api.Spec{})
	next := l.submit("ann", api.Spec{After: []api.After{{Job: first, On: "ok"}}})
	form := url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(first)}}
	l.post("/act", form)
	_, _, text := l.get(fmt.Sprintf("/act?verb=uncancel&job=%d", next))
	shows(t, text, fmt.Sprintf("can be uncanceled only together with job %d, unless it need not wait for that job", first))
	_, _, text = l.get(fmt.Sprintf("/act?verb=uncancel&job=%d&job=%d", next, first))
	shows(t, text, "Uncancel 2 jobs?", "waits again, without the tasks that had ended")
	if strings.Contains(text, "comes back only") {
		t.Errorf("both come back:\n%s", text)
	}
}

// TestUndoCommandNamesAll checks that the undo command names all jobs, so that it can be copied.
func TestUndoCommandNamesAll(t *testing.T) {
	l := newLab(t, cluster)
	form, want := url.Values{"verb": {"cancel"}}, "fairlead uncancel"
	for range 12 {
		id := fmt.Sprint(l.submit("ann", api.Spec{}))
		form.Add("job", id)
		want += " " + id
	}
	_, text := l.post("/act", form)
	shows(t, text, "Cancel: done", want+"<")
}

// TestBoostShowsShares checks that the question shows the shares under the typed factor.
func TestBoostShowsShares(t *testing.T) {
	l := newLab(t, cluster)
	_, _, text := l.get("/act?verb=boost&pool=physics")
	shows(t, text, "With a factor of 2, sibling pools get less", "weight 60 × 2", "share 60.0% → 75.0%",
		"share 40.0% → 25.0%", `name="for" value="6h"`)
	_, _, text = l.get("/act?verb=boost&pool=physics&factor=x6&for=3h")
	shows(t, text, "share 60.0% → 90.0%")
	_, _, text = l.get("/act?verb=boost&pool=physics&factor=6&for=3h&reason=thesis")
	shows(t, text, "share 60.0% → 90.0%", "share 40.0% → 10.0%", `name="factor" value="6"`, `name="for" value="3h"`)
}

// TestMistakesKeepTheForm checks that a mistake in the form of a boost or a pause is reported in the form, which keeps
// everything that was typed.
func TestMistakesKeepTheForm(t *testing.T) {
	l := newLab(t, cluster)
	for _, c := range []struct {
		form url.Values
		says []string
	}{
		{url.Values{"verb": {"boost"}, "pool": {"physics"}, "factor": {"0"}, "for": {"3h"}, "reason": {"thesis"}},
			[]string{`class="problem" role="alert">factor: `, `name="factor" value="0"`, `name="for" value="3h"`,
				`value="thesis"`}},
		{url.Values{"verb": {"boost"}, "pool": {"physics"}, "factor": {"2"}, "for": {"soon"}},
			[]string{`role="alert">for: `, `name="for" value="soon"`}},
		{url.Values{"verb": {"pause"}, "pool": {"physics"}, "for": {"-1h"}, "reason": {"over budget"}},
			[]string{`role="alert">for: `, `value="over budget"`}},
	} {
		status, text := l.post("/act", c.form)
		if status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
			t.Errorf("%v: status %d", c.form, status)
		}
		shows(t, text, c.says...)
	}
}

// TestUnboostGoesByItsNumber checks that the question names the pool whose boost ends, whatever pool the
// address names.
func TestUnboostGoesByItsNumber(t *testing.T) {
	l := newLab(t, cluster)
	_, text := l.post("/act", url.Values{"verb": {"boost"}, "pool": {"physics"}, "factor": {"2"}, "for": {"6h"},
		"reason": {"the thesis"}})
	shows(t, text, "Boost: done")
	_, _, text = l.get("/act?verb=unboost&id=1&pool=biology/env")
	shows(t, text, "End boost of physics?", "×2", "the thesis", "Sibling pools get more again", ">biology<")
	if strings.Contains(text, "biology/env") {
		t.Errorf("the question is about the pool of the address:\n%s", text)
	}
	for _, id := range []string{"2", "x", "-1", ""} {
		if status, _ := l.post("/act", url.Values{"verb": {"unboost"}, "id": {id},
			"pool": {"physics"}}); status != http.StatusNotFound && status != http.StatusUnprocessableEntity {
			t.Errorf("boost %q: %d", id, status)
		}
	}
	if l.weight("physics") != 120 {
		t.Errorf("the weight is %v", l.weight("physics"))
	}
	_, text = l.post("/act", url.Values{"verb": {"unboost"}, "id": {"1"}, "pool": {"biology"}})
	shows(t, text, "End boost: done", "physics: weight 120 → 60")
}

// TestPriorities checks that the question shows the effect of another priority on the order, and that only a form that
// names a priority changes it. Each former priority can be restored.
func TestPriorities(t *testing.T) {
	l := newLab(t, "policy: fair\npools: {physics: {weight: 1}}\n")
	first := l.submit("ann", api.Spec{Name: "first", Pool: "physics"})
	for range 3 {
		l.submit("ann", api.Spec{Name: "next", Pool: "physics"})
	}
	second := l.submit("bob", api.Spec{Name: "second", Pool: "physics"})
	ended := l.submit("bob", api.Spec{Name: "ended", Pool: "physics"})
	if status, _ := l.post("/act", url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(ended)}}); status != http.StatusOK {
		t.Fatal(status)
	}
	jobs := fmt.Sprintf("&job=%d&job=%d", second, ended)
	_, _, text := l.get("/act?verb=prioritise" + jobs)
	shows(t, text, "Change the priority of 2 jobs?", "rank 5", "has ended already", `value="very_high"`, "disabled")
	_, _, text = l.get("/act?verb=prioritise&priority=high" + jobs)
	shows(t, text, "rank 5 → rank 1", "4 other jobs would start later", "rank 1 → rank 2", "physics</a> (4)", "ann")
	if p := l.priority(second); p != "normal" {
		t.Errorf("to ask made it %s", p)
	}
	form := url.Values{"verb": {"prioritise"}, "job": {fmt.Sprint(second)}}
	for priority, want := range map[string]int{"": http.StatusUnprocessableEntity,
		"urgent": http.StatusUnprocessableEntity} {
		form.Set("priority", priority)
		if status, text := l.post("/act", form); status != want || l.priority(second) != "normal" {
			t.Errorf("priority %q: status %d, and it is %s\n%s", priority, status, l.priority(second), text)
		}
	}
	form.Set("priority", "high")
	_, text = l.post("/act", form)
	shows(t, text, "Priority high: done", fmt.Sprintf("fairlead alter --priority normal %d", second), "Undo: priority normal")
	if p := l.priority(second); p != "high" {
		t.Errorf("it is %s", p)
	}
	form.Add("job", fmt.Sprint(first)) // now their priorities differ
	form.Set("priority", "low")
	_, text = l.post("/act", form)
	shows(t, text, "priority high → low", "priority normal → low", "Undo: priority high (1 job)",
		"Undo: priority normal (1 job)", fmt.Sprintf("fairlead alter --priority high %d<", second))
	if l.priority(first) != "low" {
		t.Errorf("the priority of job %d is %s", first, l.priority(first))
	}
}

// TestUndoOfAMoveRestoresTheLimit: a pool gives a job that moves there its default time limit. The page says so, and
// the undo button takes the limit away.
func TestUndoOfAMoveRestoresTheLimit(t *testing.T) {
	l := newLab(t, "pools: {physics: {weight: 1}, short: {weight: 1, time: 30m}}\n")
	id := l.submit("ann", api.Spec{Pool: "physics"})
	_, text := l.post("/act", url.Values{"verb": {"move"}, "job": {fmt.Sprint(id)}, "to": {"short"}})
	shows(t, text, "pool physics → short, limit none → 30m", "Undo: pool physics, limit none",
		fmt.Sprintf("fairlead alter --move-to physics --time unlimited %d<", id))
	form := fields(t, text, "Undo: pool physics, limit none")
	if _, text = l.post("/act", form); !strings.Contains(text, "pool short → physics, limit 30m → none") {
		t.Errorf("the undo says\n%s", text)
	}
	for _, limit := range []string{"99999999999999", "-2", "NaN", "soon"} {
		status, text := l.post("/act", url.Values{"verb": {"limit"}, "job": {fmt.Sprint(id)}, "limit": {limit}})
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, "is not a number of seconds from 0 to") {
			t.Errorf("the limit %s: status %d\n%s", limit, status, text)
		}
	}
}

// priority returns the priority of a job.
func (l *lab) priority(id int64) string {
	l.t.Helper()
	r, err := l.client.Jobs.Get(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return r.Job.Priority
}

// TestCancelNamesDependents checks that the page names the jobs that are canceled with others.
func TestCancelNamesDependents(t *testing.T) {
	l := newLab(t, cluster)
	first := l.submit("ann", api.Spec{Held: true})
	next := l.submit("ann", api.Spec{After: []api.After{{Job: first, On: "ok"}}})
	_, text := l.post("/act", url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(first)}})
	shows(t, text, "Cancel: done", fmt.Sprintf("job %d is canceled too, because it depends on a canceled job", next))
}

// TestCancelIsUnderWay checks that the page does not count tasks that wait behind a bridge as running, and
// does not call a cancel done before the running tasks have stopped.
func TestCancelIsUnderWay(t *testing.T) {
	l := newLab(t, cluster)
	queued, runs, waits := l.submit("ann", api.Spec{}), l.submit("ann", api.Spec{Array: "0-2"}), l.submit("ann",
		api.Spec{})
	lease := func(id int64) queue.Ref {
		t.Helper()
		g, err := l.store.Lease(t.Context(), "away", []queue.Want{{Job: id}}, time.Hour)
		if err != nil || g[0].Lease == nil {
			t.Fatal(err, g)
		}
		return g[0].Lease.Ref
	}
	ref := lease(queued)
	if errs, err := l.store.Progress(t.Context(), []queue.Progress{{Ref: ref}}); err != nil || errs[0] != nil {
		t.Fatal(err, errs)
	}
	refs := []queue.Ref{ref, lease(runs), lease(runs)}
	form := url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(queued), fmt.Sprint(runs), fmt.Sprint(waits)}}
	_, _, text := l.get("/act?" + form.Encode())
	shows(t, text, "2 running tasks are stopped", "1 task that has not begun is taken back",
		"is taken back from the other queueing system, and never starts", "never starts")
	_, text = l.post("/act", form)
	shows(t, text, "Cancel: under way", "3 tasks are being stopped", "is being taken back",
		"2 tasks must stop first", "done</td>", "Undo: uncancel")
	_, _, text = l.get("/act?" + form.Encode())
	shows(t, text, "is being canceled already")
	if strings.Contains(text, "</data> running task") {
		t.Errorf("what is being stopped is to be stopped again:\n%s", text)
	}
	for _, r := range refs {
		if v, err := l.store.Finish(t.Context(),
			[]queue.Result{{Ref: r, Outcome: queue.Outcome{State: queue.Cancelled}}}); err != nil || v[0].Err != nil {
			t.Fatal(err, v)
		}
	}
	if _, text = l.post("/act", url.Values{"verb": {"cancel"},
		"job": {fmt.Sprint(l.submit("ann", api.Spec{}))}}); !strings.Contains(text, "Cancel: done") {
		t.Errorf("of what waits it does not say that it is done:\n%s", text)
	}
}

// TestMoveAndLimitCanBeUndone: after a job was moved or got another time limit, the page offers the former pool and the
// former limit, as a button and as a command.
func TestMoveAndLimitCanBeUndone(t *testing.T) {
	l := newLab(t, cluster)
	limited := l.submit("ann", api.Spec{Pool: "physics/curie", LimitSeconds: 300})
	endless := l.submit("ann", api.Spec{Pool: "physics/curie"})
	for _, c := range []struct {
		job               int64
		verb, field, to   string
		head, undo, typed string
	}{
		{limited, "limit", "limit", "1200", "Set the time limit: done", "Undo: limit 5m", "fairlead alter --time 5m"},
		{endless, "limit", "limit", "60", "Set the time limit: done", "Undo: limit none",
			"fairlead alter --time unlimited"},
		{limited, "move", "to", "biology/env", "Move: done", "Undo: pool physics/curie",
			"fairlead alter --move-to physics/curie"},
	} {
		form := url.Values{"verb": {c.verb}, "job": {fmt.Sprint(c.job)}, c.field: {c.to}}
		_, text := l.post("/act", form)
		shows(t, text, c.head, c.undo, fmt.Sprint(c.typed, " ", c.job))
		was := regexp.MustCompile(`name="` + c.field + `" value="([^"]*)"`).FindStringSubmatch(text)
		if was == nil {
			t.Fatalf("no form to undo it:\n%s", text)
		}
		form.Set(c.field, was[1])
		if _, text = l.post("/act", form); !strings.Contains(text, c.head) {
			t.Errorf("the undo of %s failed:\n%s", c.verb, text)
		}
		if _, text = l.post("/act", form); strings.Contains(text, "Undo") {
			t.Errorf("%s changed nothing, and can be undone:\n%s", c.verb, text)
		}
	}
	jobs := must(l.client.Jobs.List(t.Context(), url.Values{})).Jobs
	for _, j := range jobs {
		want := map[int64]float64{limited: 300, endless: 0}[j.ID]
		if j.Pool != "physics/curie" || j.LimitSeconds != want {
			t.Errorf("job %d is in %s with the limit %v s, want %v s", j.ID, j.Pool, j.LimitSeconds, want)
		}
	}
}
