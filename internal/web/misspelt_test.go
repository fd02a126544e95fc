package web_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

// TestMisspeltSearchConcernsNobody checks that an invalid search lists no job: neither on the page, where a user could
// tick all of them, nor in an export, which is refused with the message of the page.
func TestMisspeltSearchConcernsNobody(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("ann", api.Spec{Pool: "physics/curie"})
	l.wait("it waits", func() bool { _, n := l.loop.Running(); return n == 1 })
	for q, says := range map[string]string{
		"usr:root":                  `Unknown filter "usr:"`,
		"since:1h":                  `Unknown filter "since:"; for jobs that ended in the last hour use ended:<1h`,
		"wait:abc":                  "wait: ",
		"ended:soon":                "ended: ",
		"ended:<":                   "ended: a time is missing, as in ended:<1h",
		"wait:>":                    "wait: a time is missing, as in wait:>1h",
		"state:bad":                 `unknown state "bad"`,
		"cpu:>":                     "cpu: a number is missing, as in cpu:>8",
		"cpu:<":                     "cpu: a number is missing, as in cpu:<8",
		"user:ann+cpu:1x":           "cpu: ",
		strings.Repeat("a", 501):    "longer than 500 bytes",
		"user:ann+usr:root+mem:>8G": `Unknown filter "usr:"`,
	} {
		for _, more := range []string{"", "&list=all", "&fold=user"} {
			path := "/queue?q=" + q + more
			status, _, text := l.get(path)
			text = html.UnescapeString(text)
			if status != http.StatusOK || !strings.Contains(text, says) ||
				!strings.Contains(text, `<data value="1">1</data> task waits`) {
				t.Errorf("%s: status %d, and it does not say %q", path, status, says)
			}
			if strings.Contains(text, `name="job"`) || strings.Contains(text, `name="verb"`) ||
				strings.Contains(text, `data-key="f-`) {
				t.Errorf("%s lists jobs", path)
			}
			for _, as := range []string{"&csv=list", "&json=list"} {
				if status, _, text := l.get(path + as); status != http.StatusUnprocessableEntity ||
					!strings.Contains(html.UnescapeString(text), says) {
					t.Errorf("%s%s: status %d, want 422 and %q", path, as, status, says)
				}
			}
		}
	}
}

// TestTablesThatThereAreNot checks that every page answers "not found" for an unknown table, as CSV and as JSON.
func TestTablesThatThereAreNot(t *testing.T) {
	l := newLab(t, cluster)
	for _, path := range []string{"/queue?json=nosuch", "/queue?json=", "/queue?csv=nosuch", "/queue?csv=",
		"/?json=nosuch", "/?json=pools", "/?csv=nosuch", "/machines?json=nosuch", "/queue?fold=user&json=nosuch"} {
		if status, _, text := l.get(path); status != http.StatusNotFound ||
			!strings.Contains(text, "this page has no table") {
			t.Errorf("%s: status %d, want 404", path, status)
		}
	}
}

// TestWayOutHasOneName checks that the button that closes a dialog has the same name everywhere, and that
// this name is not an action of a job.
func TestWayOutHasOneName(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n1", map[string]int64{"cpu": 4})
	l.submit("ann", api.Spec{Pool: "physics/curie", Request: map[string]int64{"cpu": 64}})
	way := regexp.MustCompile(`data-close[^>]*>([^<]*)<`)
	for _, path := range []string{
		"/act?verb=cancel&job=1", "/act?verb=hold&job=1", "/act?verb=prioritise&job=1", "/act?verb=pause&pool=physics", "/act?verb=resume&pool=physics", "/act?verb=boost&pool=physics",
		"/machines/drain?node=n1", "/machines/reserve",
	} {
		status, _, text := l.get(path)
		m := way.FindStringSubmatch(text)
		want := "Back"
		if strings.Contains(path, "verb=cancel") {
			want = "Keep job" // "Cancel" would be ambiguous
		}
		if status != http.StatusOK || m == nil || m[1] != want {
			t.Errorf("%s: status %d, the way out is %q", path, status, m)
		}
	}
}
