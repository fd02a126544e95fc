package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// look requests a page of the dashboard as a principal, or posts a form.
func (d *desk) look(a access.Principal, path string, form url.Values, headers ...string) (status int, text string) {
	d.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	if form != nil {
		r = httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept", "text/html") // as browsers do
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r.WithContext(context.WithValue(d.t.Context(), principalKey{}, a)))
	return w.Code, w.Body.String()
}

// state returns the current state of a job.
func (d *desk) state(id int64) queue.State {
	d.t.Helper()
	j, err := d.loop.Client().Job(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return j.State
}

// TestDashboardActsForTheActor: nobody may do more there than on the command line, and pages show no button whose
// action would be refused.
func TestDashboardActsForTheActor(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Anonymous = config.SeeAll })
	roots, _, _ := d.submit(root, api.Spec{Argv: []string{"true"}})
	anns, _, _ := d.submit(ann, api.Spec{Argv: []string{"true"}, Env: map[string]string{"SECRET": "sesame"}})
	for _, who := range []access.Principal{ann, unknown} {
		status, text := d.look(who, "/act", url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(roots.ID)}})
		if d.state(roots.ID) != queue.Waiting || status != refusal(who) {
			t.Errorf("%s cancels the job of root: %d, %s", who.Name, status, d.state(roots.ID))
		}
		if who.UID >= 0 && (!strings.Contains(text, "may not") || !strings.Contains(text, "Cancel: nothing was changed")) || strings.Contains(text, "Undo") {
			t.Errorf("%s is told that the job of root was canceled", who.Name)
		}
		if _, text := d.look(who, fmt.Sprint("/jobs/", roots.ID), nil); strings.Contains(text, "data-ask") {
			t.Errorf("%s is offered to change the job of root", who.Name)
		}
		for _, form := range []url.Values{{"verb": {"boost"}, "pool": {"root"}, "factor": {"9"}, "for": {"1h"}}, {"verb": {"unboost"}, "pool": {"root"}, "id": {"1"}}} {
			if status, _ := d.look(who, "/act", form); status != refusal(who) {
				t.Errorf("%s: %v: %d", who.Name, form, status)
			}
		}
		if status, _ := d.look(who, fmt.Sprint("/jobs/", roots.ID, "/log"), nil); status != http.StatusForbidden {
			t.Errorf("%s reads the output of root: %d", who.Name, status)
		}
	}
	if _, text := d.look(unknown, fmt.Sprint("/jobs/", anns.ID), nil); strings.Contains(text, "sesame") {
		t.Error("the environment of a job is shown to everybody")
	}
	status, text := d.look(ann, "/act", url.Values{"verb": {"hold"}, "job": {fmt.Sprint(anns.ID)}})
	if status != http.StatusOK || d.state(anns.ID) != queue.Held || !strings.Contains(text, "Undo") {
		t.Errorf("ann holds her job: %d, %s", status, d.state(anns.ID))
	}
	status, text = d.look(ann, "/act", url.Values{"verb": {"release"}, "job": {fmt.Sprint(anns.ID), fmt.Sprint(roots.ID)}})
	undo := fmt.Sprintf(`name="verb" value="hold"><input type="hidden" name="job" value="%d"><button`, anns.ID)
	if status != http.StatusOK || !strings.Contains(text, "done for 1 of 2 jobs") || !strings.Contains(text, undo) || !strings.Contains(text, fmt.Sprintf("fairlead hold %d<", anns.ID)) {
		t.Errorf("ann releases her job and that of root: %d\n%s", status, text)
	}
}

// TestDashboardActsOnAllWithinRights: an action on all jobs that match counts the jobs of other users, says that these
// stay unchanged, and leaves them alone.
func TestDashboardActsOnAllWithinRights(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Anonymous = config.SeeAll })
	roots, _, _ := d.submit(root, api.Spec{Argv: []string{"true"}})
	anns, _, _ := d.submit(ann, api.Spec{Argv: []string{"true"}})
	path := "/act?verb=cancel&all=1&list=all&q="
	status, text := d.look(ann, path, nil)
	for _, says := range []string{`You may not change <data value="1">1</data> job of these`,
		"not allowed: the job belongs to root", "Cancel 1 job</button>"} {
		if status != http.StatusOK || !strings.Contains(text, says) {
			t.Errorf("the question does not say %q: %d\n%s", says, status, text)
		}
	}
	form := url.Values{"verb": {"cancel"}, "all": {"1"}, "list": {"all"}, "q": {""}, "at": {"2026-01-02T03:04:05Z"},
		"upto": {fmt.Sprint(anns.ID)}}
	if status, text = d.look(unknown, "/act", form); status < 400 || d.state(roots.ID) != queue.Waiting ||
		d.state(anns.ID) != queue.Waiting {
		t.Errorf("nobody cancels all jobs: %d; they are %s and %s\n%s", status, d.state(roots.ID), d.state(anns.ID), text)
	}
	status, text = d.look(ann, "/act", form)
	if status != http.StatusOK || d.state(roots.ID) != queue.Waiting || d.state(anns.ID) != queue.Cancelled {
		t.Errorf("ann cancels all jobs: %d; that of root is %s and hers %s", status, d.state(roots.ID), d.state(anns.ID))
	}
	if !strings.Contains(text, "Cancel: done for 1 of 2 jobs") ||
		!strings.Contains(text, "not allowed: the job belongs to root") {
		t.Errorf("the result does not name the job that stays:\n%s", text)
	}
	form.Set("verb", "uncancel")
	form.Set("q", "user:root")
	if status, _ = d.look(ann, "/act", form); status != http.StatusForbidden {
		t.Errorf("ann may change none of them: %d", status)
	}
}

// TestDashboardRefusesOthersPages: a request that another site sends through the user's browser changes nothing, and
// neither does following a link.
func TestDashboardRefusesOthersPages(t *testing.T) {
	d := newDesk(t)
	j, _, _ := d.submit(root, api.Spec{Argv: []string{"true"}})
	form := url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(j.ID)}}
	for _, h := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		if status, _ := d.look(root, "/act", form, h...); status != http.StatusForbidden {
			t.Errorf("%v: status %d", h, status)
		}
	}
	if status, _ := d.look(root, "/act?"+form.Encode(), nil); status != http.StatusOK {
		t.Errorf("the question: status %d", status)
	}
	for _, h := range [][]string{{"Content-Type", "text/plain"}, {"Content-Type", "multipart/form-data"}} {
		if status, _ := d.look(root, "/act", form, h...); status < 400 {
			t.Errorf("%v: status %d", h, status)
		}
	}
	if d.state(j.ID) != queue.Waiting {
		t.Fatalf("it is %s", d.state(j.ID))
	}
	if status, _ := d.look(root, "/act", form, "Sec-Fetch-Site", "same-origin"); status != http.StatusOK || d.state(j.ID) != queue.Cancelled {
		t.Errorf("from its own page: status %d, %s", status, d.state(j.ID))
	}
}

// TestDashboardBoundsWhatIsPosted: oversized and invalid forms are refused.
func TestDashboardBoundsWhatIsPosted(t *testing.T) {
	d := newDesk(t)
	many := url.Values{"verb": {"cancel"}}
	for i := range 1001 {
		many.Add("job", fmt.Sprint(i+1))
	}
	for name, form := range map[string]url.Values{
		"a large one": {"verb": {strings.Repeat("x", 300_000)}}, "no verb": {}, "another verb": {"verb": {"<script>"}}, "no job": {"verb": {"hold"}},
		"no number": {"verb": {"hold"}, "job": {"1e9"}}, "many jobs": many, "not a factor": {"verb": {"boost"}, "pool": {"root"}, "factor": {"NaN"}, "for": {"1h"}},
		"forever": {"verb": {"boost"}, "pool": {"root"}, "factor": {"2"}, "for": {"99999999999999999d"}},
	} {
		d.submit(root, api.Spec{Argv: []string{"true"}})
		if status, text := d.look(root, "/act", form); status != http.StatusUnprocessableEntity || strings.Contains(text, "<script>") && !strings.Contains(text, "&lt;script") {
			t.Errorf("%s: status %d", name, status)
		}
	}
}

// TestDashboardBehindPlainProxy: over plain http, browsers do not tell a proxy whether another site sent the request,
// so the configuration has to name the origin. If they do tell, the name changes nothing.
func TestDashboardBehindPlainProxy(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Origins = []string{"http://cluster.example"} })
	j, _, _ := d.submit(root, api.Spec{Argv: []string{"true"}})
	form := url.Values{"verb": {"hold"}, "job": {fmt.Sprint(j.ID)}}
	for _, h := range [][]string{
		{"Origin", "http://evil.example"}, {"Origin", "http://evil.example", "X-Forwarded-Host", "evil.example"}, {"Origin", "http://cluster.example:8080"}, {"Origin", "https://cluster.example"},
		{"Origin", "http://cluster.example", "Sec-Fetch-Site", "cross-site"}, {"Origin", "null"},
	} {
		status, text := d.look(root, "/act", form, h...)
		if status != http.StatusForbidden || !strings.Contains(text, "server.origins") || !strings.Contains(text, "<nav") {
			t.Errorf("%v: status %d\n%s", h, status, text)
		}
		if status, text := d.look(root, "/v1/jobs/alter", form, h...); status != http.StatusForbidden || strings.Contains(text, "<") {
			t.Errorf("%v: a program is answered %d\n%s", h, status, text)
		}
	}
	if d.state(j.ID) != queue.Waiting {
		t.Fatalf("it is %s", d.state(j.ID))
	}
	if status, text := d.look(root, "/act", form, "Origin", "http://cluster.example"); status != http.StatusOK || d.state(j.ID) != queue.Held {
		t.Errorf("from the page behind the proxy: status %d, %s\n%s", status, d.state(j.ID), text)
	}
}
