package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestActSaysWhatCameOfIt: what has ended is not held, and what was cancelled can be run again, in the
// words of the command line.
func TestActSaysWhatCameOfIt(t *testing.T) {
	l := newLab(t, cluster)
	id := fmt.Sprint(l.submit("ann", api.Spec{Pool: "physics/curie"}))
	_, _, text := l.get("/act?verb=cancel&job=" + id)
	shows(t, text, "To undo it, requeue")
	status, text := l.post("/act", url.Values{"verb": {"cancel"}, "job": {id}})
	shows(t, text, "Cancel: done", "fairlead requeue "+id, "Undo: requeue")
	if status != http.StatusOK {
		t.Errorf("to cancel: %d", status)
	}
	for _, verb := range []string{"hold", "cancel"} {
		status, text := l.post("/act", url.Values{"verb": {verb}, "job": {id}})
		shows(t, text, "nothing was done")
		if status != http.StatusConflict || strings.Contains(text, "Undo") {
			t.Errorf("%s what has ended: %d\n%s", verb, status, text)
		}
	}
}

// TestUnboostGoesByItsNumber: whatever pool an address names, the question is about the pool whose
// boost ends.
func TestUnboostGoesByItsNumber(t *testing.T) {
	l := newLab(t, cluster)
	_, text := l.post("/act", url.Values{"verb": {"boost"}, "pool": {"physics"}, "factor": {"2"}, "for": {"6h"}, "reason": {"the thesis"}})
	shows(t, text, "Boost: done")
	_, _, text = l.get("/act?verb=unboost&id=1&pool=biology/env")
	shows(t, text, "End the boost physics?", "×2", "the thesis", "Those beside it have more again", ">biology<")
	if strings.Contains(text, "biology/env") {
		t.Errorf("the question is about the pool of the address:\n%s", text)
	}
	for _, id := range []string{"2", "x", "-1", ""} {
		if status, _ := l.post("/act", url.Values{"verb": {"unboost"}, "id": {id}, "pool": {"physics"}}); status != http.StatusNotFound && status != http.StatusUnprocessableEntity {
			t.Errorf("boost %q: %d", id, status)
		}
	}
	if l.weight("physics") != 120 {
		t.Errorf("the weight is %v", l.weight("physics"))
	}
	_, text = l.post("/act", url.Values{"verb": {"unboost"}, "id": {"1"}, "pool": {"biology"}})
	shows(t, text, "End the boost: done", "physics: weight 120 → 60")
}

// TestPriorities: who asks for another priority sees what it does to the order, and it is done only by a form
// that names one. It can be undone if all had the same.
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
	shows(t, text, "Change the priority of 2 jobs?", "place 5", "has ended already", `value="very_high"`, "disabled")
	_, _, text = l.get("/act?verb=prioritise&priority=high" + jobs)
	shows(t, text, "place 5 → place 1", "4 other jobs would start later", "place 1 → place 2", "physics</a> (4)", "ann")
	if p := l.priority(second); p != "normal" {
		t.Errorf("to ask made it %s", p)
	}
	form := url.Values{"verb": {"prioritise"}, "job": {fmt.Sprint(second)}}
	for priority, want := range map[string]int{"": http.StatusUnprocessableEntity, "urgent": http.StatusUnprocessableEntity} {
		form.Set("priority", priority)
		if status, text := l.post("/act", form); status != want || l.priority(second) != "normal" {
			t.Errorf("priority %q: status %d, and it is %s\n%s", priority, status, l.priority(second), text)
		}
	}
	form.Set("priority", "high")
	_, text = l.post("/act", form)
	shows(t, text, "Priority high: done", fmt.Sprintf("fairlead alter --priority normal %d", second), "Undo: normal again")
	if p := l.priority(second); p != "high" {
		t.Errorf("it is %s", p)
	}
	form.Add("job", fmt.Sprint(first)) // now they differ
	form.Set("priority", "low")
	if _, text = l.post("/act", form); strings.Contains(text, "Undo") || l.priority(first) != "low" {
		t.Errorf("of jobs that differ it offers to undo:\n%s", text)
	}
}

// priority is that of a job.
func (l *lab) priority(id int64) string {
	l.t.Helper()
	r, err := l.client.Job(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return r.Job.Priority
}
