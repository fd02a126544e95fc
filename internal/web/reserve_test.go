package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
)

// TestReserve checks that the page shows the running and planned tasks of the machines before it reserves them. The
// reservation equals the one shown, even with tasks in the way, and can be ended.
func TestReserve(t *testing.T) {
	l := newLab(t, cluster)
	l.join(2)
	id := l.submit("markov", api.Spec{Name: "sim", Pool: "physics/markov", Request: map[string]int64{"cpu": 12}, Gang: 2, Spread: true, LimitSeconds: 7200})
	l.until(id, "running")
	next := l.submit("julie", api.Spec{Name: "next", Pool: "biology/env", Request: map[string]int64{"cpu": 16}, LimitSeconds: 7200})
	l.wait("room is kept for the next", func() bool { n := views.Nodes(l.loop); return len(n[0].Kept)+len(n[1].Kept) > 0 })
	none := func(what string) {
		t.Helper()
		if all := l.loop.Overrides.Reservations(); len(all) != 0 {
			t.Errorf("%s has made %+v", what, all)
		}
	}
	_, _, text := l.get("/machines/reserve?node=n1&node=n2")
	shows(t, text, "Reserve machines?", `value="n1, n2"`, "Show conflicts")
	flags := regexp.MustCompile(`--(start|duration|nodes|maint|pool|user)|fairlead nodes`) // flags of the command
	for query, want := range map[string]string{
		"nodes=n1&start=1h&for=2h&pools=physics":               "name: is missing",
		"name=x&nodes=n9&start=1h&for=2h&pools=physics":        "there is no node",
		"name=x&nodes=n1&start=whenever&for=2h&pools=physics":  "from: ",
		"name=x&nodes=n1&start=1h&for=-2h&pools=physics":       "for: ",
		"name=x&nodes=n1&start=1h&for=2h":                      "name the pools or users that may use the reservation, or reserve for maintenance",
		"name=x&nodes=0&start=1h&for=2h&users=ann":             "at least 1",
		"name=x&nodes=n1&start=1h&for=2h&users=a&maintenance=": "",

		"name=x&start=1h&for=2h&users=a":                        "nodes: are missing",
		"name=x&nodes=n1&start=1h&for=2h&users=a&maintenance=1": "leave out maintenance",
	} {
		status, _, text := l.get("/machines/reserve?" + query)
		if has := strings.Contains(text, `class="problem" role="alert"`); status != http.StatusOK || has != (want != "") || !strings.Contains(text, want) || flags.MatchString(text) {
			t.Errorf("%s: status %d\n%s", query, status, text)
		}
	}
	query := "name=course&nodes=n1+n2&start=1h&for=2h&pools=physics&users=ann,bob&reason=the+exam"
	_, _, text = l.get("/machines/reserve?" + query)
	shows(t, text, "reserved for pool physics and user ann,bob", "2 machines", "2 running tasks", "markov", fmt.Sprintf("jobs/%d", next), "Reserve 2 machines anyway")
	none("to ask")
	form, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := l.post("/machines/reserve", form); status != http.StatusForbidden {
		t.Errorf("without force: %d", status)
	}
	form.Set("force", "yes")
	if status, _ := l.post("/machines/reserve", form, "Origin", "http://evil.example"); status != http.StatusForbidden {
		t.Errorf("from another site: %d", status)
	}
	none("what was refused")
	_, text = l.post("/machines/reserve", form)
	shows(t, text, "course: reserved for pool physics and user ann,bob", "submit --reservation course", "Undo")
	if all := l.loop.Overrides.Reservations(); len(all) != 1 || len(all[0].Nodes) != 2 || all[0].Reason != "the exam" || all[0].Until.Sub(all[0].From).Hours() != 2 {
		t.Errorf("it made %+v", all)
	}
	l.until(id, "running")
	_, _, text = l.get("/machines/reserve?" + strings.Replace(query, "for=2h", "for=5h", 1))
	shows(t, text, "This changes the reservation with this name", "Change course")
	_, _, text = l.get("/machines")
	shows(t, text, "Reservations", "machines/unreserve?name=course", "the exam")
	_, _, text = l.get("/machines/unreserve?name=course")
	shows(t, text, "End course?", "n1, n2", "the exam")
	_, text = l.post("/machines/unreserve", url.Values{"name": {"course"}})
	shows(t, text, "course has ended")
	none("what was ended")
	if status, _, _ := l.get("/machines/unreserve?name=course"); status != http.StatusNotFound {
		t.Errorf("to end it again: %d", status)
	}
}
