package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
)

// hiddenField matches the fields that a form sends back.
var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// fields returns the fields of the form whose confirmation a page shows, or of the form with a button of this text.
func fields(t *testing.T, text, button string) url.Values {
	t.Helper()
	forms := strings.Split(text, "<form ")
	for _, f := range forms {
		if !strings.HasPrefix(f, `method="post"`) || !strings.Contains(f, button) {
			continue
		}
		out := url.Values{}
		for _, m := range hiddenField.FindAllStringSubmatch(f, -1) {
			out.Add(m[1], html.UnescapeString(m[2]))
		}
		return out
	}
	t.Fatalf("there is no button %s:\n%s", button, text)
	return nil
}

// fill adds waiting jobs to a cluster without machines, alternately for ann and bob.
func (l *lab) fill(n int) {
	l.t.Helper()
	jobs := make([]queue.Job, n)
	for i := range jobs {
		jobs[i] = queue.Job{User: []string{"ann", "bob"}[i%2], Name: fmt.Sprint("job", i), Argv: []string{"true"},
			Pool: []string{"physics/curie", "biology/epi", "biology/env"}[i%3]}
	}
	if _, err := l.loop.Intake.Submit(l.t.Context(), jobs); err != nil {
		l.t.Fatal(err)
	}
	l.wait("all wait", func() bool { _, w := l.loop.Running(); return w == int64(n) })
	l.waiting()
}

// in counts the jobs in a state.
func (l *lab) in(user string, state queue.State) int {
	l.t.Helper()
	jobs, err := l.store.Jobs(l.t.Context(), queue.Query{User: user, States: []queue.State{state}})
	if err != nil {
		l.t.Fatal(err)
	}
	return len(jobs)
}

// TestActOnAllThatMatch checks that an action on all jobs that match a filter first says how many they are and whose,
// and then changes these jobs on all pages and no others: neither jobs of other users nor later jobs.
func TestActOnAllThatMatch(t *testing.T) {
	l := newLab(t, cluster)
	l.fill(1210)
	_, _, text := l.get("/queue?q=user:ann")
	shows(t, text, `select all 605 jobs that match`, `name="list" value="waiting"`, `name="q" value="user:ann"`)
	ask := url.Values{"verb": {"hold"}, "all": {"1"}, "list": {"waiting"}, "q": {"user:ann pool:biology"}, "job": {"2"}}
	_, _, text = l.get("/act?" + ask.Encode())
	shows(t, text, "Hold 403 jobs?",
		"The list <b>Waiting</b> with the filter <code>user:ann pool:biology</code> has 403 jobs.",
		"waits until it is released</td><td class=\"n\">403", "<td>ann</td><td class=\"n\">403",
		"biology/env</td><td class=\"n\">202",
		"Jobs with a number above 1210", "Hold 403 jobs</button>")
	if l.in("", queue.Held) != 0 {
		t.Error("the question holds jobs")
	}
	form := fields(t, text, "Hold 403 jobs")
	if len(form["job"]) > 0 {
		t.Errorf("the form lists %d jobs", len(form["job"]))
	}
	later := l.submit("ann", api.Spec{Pool: "biology/epi"})
	form.Set("reason", "the disk is full")
	status, text := l.post("/act", form)
	shows(t, text, "Hold: done for 403 jobs", "fairlead release 3 5 9")
	if status != http.StatusOK || l.in("ann", queue.Held) != 403 || l.in("", queue.Held) != 403 {
		t.Errorf("status %d; %d jobs are held, %d of ann", status, l.in("", queue.Held), l.in("ann", queue.Held))
	}
	l.until(later, "waiting")
	if r, err := l.client.Jobs.Get(t.Context(), 3); err != nil || r.Job.HeldWhy != "the disk is full" {
		t.Error(r, err)
	}
	form.Set("verb", "cancel") // held jobs no longer wait
	if status, _ = l.post("/act", form); status != http.StatusNotFound || l.in("", queue.Cancelled) != 0 {
		t.Errorf("nothing matches any more: status %d", status)
	}
	ask = url.Values{"verb": {"cancel"}, "all": {"1"}, "list": {"held"}, "q": {""}}
	_, _, text = l.get("/act?" + ask.Encode())
	l.post("/act", url.Values{"verb": {"release"}, "job": {"3"}}) // meanwhile one of them leaves the list
	_, text = l.post("/act", fields(t, text, "Cancel 403 jobs"))
	shows(t, text, "Cancel: done", "Undo: uncancel")
	if n := l.in("", queue.Cancelled); n != 402 {
		t.Errorf("%d jobs are canceled", n)
	}
	_, _, text = l.get("/act?verb=requeue&all=1&list=all&q=")
	_, text = l.post("/act", fields(t, text, "Requeue 1,211 jobs"))
	shows(t, text, "Requeue: done for 402 of 1,211 jobs", "809 jobs stay as they are", "waits already")
}

// TestActOnAllNeedsAConfirmation checks that a form that does not come from a confirmation page changes nothing.
func TestActOnAllNeedsAConfirmation(t *testing.T) {
	l := newLab(t, cluster)
	l.fill(4)
	good := url.Values{"verb": {"hold"}, "all": {"1"}, "list": {"waiting"}, "q": {"user:ann"}, "upto": {"4"},
		"at": {"2026-01-02T03:04:05Z"}}
	for name, value := range map[string]string{"upto": "", "at": "", "q": "usr:ann", "after": "x", "verb": "move"} {
		form := url.Values{}
		for k, v := range good {
			form[k] = v
		}
		form.Set(name, value)
		if status, text := l.post("/act", form); status != http.StatusUnprocessableEntity {
			t.Errorf("%s=%q: status %d\n%s", name, value, status, text)
		}
	}
	for _, h := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		if status, _ := l.post("/act", good, h...); status != http.StatusForbidden {
			t.Errorf("%v: status %d", h, status)
		}
	}
	if status, _, _ := l.get("/act?" + good.Encode()); status != http.StatusOK || l.in("", queue.Held) != 0 {
		t.Errorf("status %d; %d jobs are held", status, l.in("", queue.Held))
	}
	if status, _ := l.post("/act", good); status != http.StatusOK || l.in("ann", queue.Held) != 2 {
		t.Errorf("the confirmed form: status %d; %d jobs are held", status, l.in("ann", queue.Held))
	}
	if status, _, text := l.get("/act?verb=hold&all=1&list=waiting&q=usr:ann"); status != http.StatusUnprocessableEntity {
		t.Errorf("a filter that is not understood: status %d\n%s", status, text)
	}
}

// TestActOnAllGoesOn checks that one request changes a bounded number of jobs, and that the page then continues with
// the others.
func TestActOnAllGoesOn(t *testing.T) {
	l := newLab(t, cluster)
	l.fill(1600)
	web.SetMaxMatched(t, 600)
	_, _, text := l.get("/act?verb=hold&all=1&list=waiting&q=")
	form, button := fields(t, text, "Hold 1,600 jobs"), ""
	form.Set("reason", "the disk is full")
	for _, held := range []int{1000, 1600} {
		_, text = l.post("/act", form)
		if shows(t, text, "Hold: done"); l.in("", queue.Held) != held {
			t.Fatalf("%d jobs are held, want %d", l.in("", queue.Held), held)
		}
		if button = "Go on with the next jobs"; held < 1600 {
			form = fields(t, text, button)
		}
	}
	if strings.Contains(text, button) || strings.Contains(text, "Undo") {
		t.Errorf("all jobs are held, and the page goes on:\n%s", text)
	}
	if r, err := l.client.Jobs.Get(t.Context(), 1600); err != nil || r.Job.HeldWhy != "the disk is full" {
		t.Error(r, err)
	}
}

// TestPriorityOfAllThatMatch checks that all jobs that match get another priority, after its effect was shown.
func TestPriorityOfAllThatMatch(t *testing.T) {
	l := newLab(t, cluster)
	l.fill(120)
	_, _, text := l.get("/act?verb=prioritise&all=1&list=waiting&q=user:ann")
	shows(t, text, "Change the priority of 60 jobs?", "Choose a priority", `name="q" value="user:ann"`, "disabled")
	_, _, text = l.get("/act?verb=prioritise&all=1&list=waiting&q=user:ann&priority=high")
	shows(t, text, "would start later")
	_, text = l.post("/act", fields(t, text, "Set priority high"))
	shows(t, text, "Priority high: done")
	if l.priority(1) != "high" || l.priority(2) != "normal" || l.priority(119) != "high" {
		t.Errorf("priorities: %s, %s, %s", l.priority(1), l.priority(2), l.priority(119))
	}
}
