package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// get reads a page.
func (l *lab) get(path string, headers ...string) (status int, head http.Header, text string) {
	l.t.Helper()
	return l.ask(http.MethodGet, path, nil, headers...)
}

// ask sends a request with headers, each name before its value.
func (l *lab) ask(method, path string, body io.Reader, headers ...string) (status int, head http.Header, text string) {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.url+path, body)
	if err != nil {
		l.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(all)
}

// everyPage holds addresses of all pages.
var everyPage = []string{"/", "/?sort=lag", "/queue", "/queue?list=all&q=eve", "/pool?pool=physics", "/pool?user=eve",
	"/jobs/1", "/jobs/1?t=600&c=2", "/jobs/1/log", "/act?verb=cancel&job=1", "/act?verb=boost&pool=physics",
	"/machines", "/machines?q=n&by=state&hours=24", "/policy", "/policy/edit", "/policy/rollback?to=1", "/submit"}

// TestPagesAreSealed checks that a page loads and runs only files of its own server, and cannot be framed.
func TestPagesAreSealed(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("eve", hostile)
	for _, path := range append(everyPage, "/assets/live.js", "/assets/none.js") {
		_, head, text := l.get(path)
		policy := head.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';",
			"frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", path, policy)
		}
		if head.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: its kind may be guessed", path)
		}
		for _, bad := range []string{"<style", " style=", "onclick=", "<script>", "http://", "https://"} {
			if strings.HasPrefix(text, "<!doctype") &&
				strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), bad) {
				t.Errorf("%s has %s in it", path, bad)
			}
		}
	}
}

// TestLinksAreRelative checks that links work behind any path prefix.
func TestLinksAreRelative(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("eve", hostile)
	for _, path := range everyPage {
		_, _, text := l.get(path)
		for _, bad := range []string{`href="/`, `src="/`, `action="/`, `href=""`} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s in it", path, bad)
			}
		}
	}
}

// hostile is a job whose texts contain markup and control characters.
var hostile = api.Spec{
	Name: `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`, Kind: "{{.Who}}", Pool: "physics/curie", LimitSeconds: 3600,
	Argv: []string{"echo", "\x1b[31mred\x1b]0;title\x07 \u202e</pre><script>alert(3)</script>"},
}

// TestNamesAreInert checks that names and commands of jobs are shown as text.
func TestNamesAreInert(t *testing.T) {
	l := newLab(t, cluster)
	id := l.submit("eve", hostile)
	for _, path := range everyPage {
		status, _, text := l.get(path)
		if status != http.StatusOK {
			t.Errorf("%s: status %d: %.300s", path, status, text)
		}
		for _, bad := range []string{"<script>alert", "<img src=x", `"'>`, "\x1b", "\u202e"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q in it", path, bad)
			}
		}
		if strings.Contains(path, "job") && !strings.Contains(text, "log") &&
			!strings.Contains(text, "&lt;script&gt;alert(1)&lt;/script&gt;") {
			t.Errorf("%s does not show the name", path)
		}
	}
	l.node("n", map[string]int64{"cpu": 1})
	l.until(id, "succeeded")
	if _, _, text := l.get("/jobs/1/log"); strings.Contains(text, "<script>alert") || strings.Contains(text, "\x1b") ||
		!strings.Contains(text, "red") {
		t.Errorf("the output is shown as %s", text)
	}
}

// TestParametersAreBounded checks that overlong parameters are refused, and that nonsense is harmless.
func TestParametersAreBounded(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("eve", hostile)
	for _, path := range everyPage {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		for query, most := range map[string]int{
			"from=99999999999999999999&sort=%00": 404, "after=%23-9&after=x&q=wait:%3E9999999999d+cpu:%3Ex": 404, "t=NaN&c=1e300&pool=" + strings.Repeat("a/", 500): 404, "from=-1&sort=%3Cscript%3E": 404, "kiosk&theme=evil": 404,
			"sort=" + strings.Repeat("x", 20_000): 422,
		} {
			status, _, text := l.get(path + sep + query)
			if strings.HasPrefix(path, "/pool") || strings.HasPrefix(path, "/act") {
				most = 422
			}
			if status > most || strings.Contains(text, "<script>") || len(text) > 1<<20 {
				t.Errorf("%s with %.40s: status %d, %d bytes", path, query, status, len(text))
			}
		}
	}
}

// TestThemeIsTheUsers checks that a page is light or dark as the user chose, or else as the browser prefers.
func TestThemeIsTheUsers(t *testing.T) {
	l := newLab(t, cluster)
	for _, c := range []struct{ path, cookie, want string }{
		{"/", "", `<html lang="en">`}, {"/", "fairlead-theme=dark", `<html lang="en" data-theme="dark">`},
		{"/?theme=light", "fairlead-theme=dark", `<html lang="en" data-theme="light">`}, {"/", `fairlead-theme="><script>`,
			`<html lang="en">`},
		{"/?kiosk", "", `<html lang="en" class="kiosk">`},
	} {
		if _, _, text := l.get(c.path, "Cookie", c.cookie); !strings.Contains(text, c.want) {
			t.Errorf("%s with %q: not %s", c.path, c.cookie, c.want)
		}
	}
}

// listen opens the stream of changes of a page, and returns its lines.
func (l *lab) listen(path string) *bufio.Scanner {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	l.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+path, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
		l.t.Fatalf("it is %s", kind)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

// TestPageIsLive checks that changes reach an open page.
func TestPageIsLive(t *testing.T) {
	l := newLab(t, cluster)
	lines := l.listen("/?live=")
	submitted := false
	for lines.Scan() {
		switch text := lines.Text(); {
		case strings.HasPrefix(text, "event: version") && !submitted:
			submitted = true
			l.submit("ann", api.Spec{Name: "later-than-the-page", Pool: "physics/curie"})
		case strings.Contains(text, "later-than-the-page"):
			return
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
}

// TestKioskHasNothingToClick checks that a page on a wall screen has no links, neither at first nor after
// updates.
func TestKioskHasNothingToClick(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("eve", hostile)
	for _, path := range []string{"/", "/queue", "/pool?pool=physics", "/machines", "/policy", "/jobs/1"} {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		_, _, text := l.get(path + sep + "kiosk")
		if !strings.Contains(text, "stylesheet") || regexp.MustCompile(`<(a|tr)\b[^>]*href=`).MatchString(text) {
			t.Errorf("%s has links", path)
		}
	}
	lines := l.listen("/?kiosk&live=")
	pools := false
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "event: version") {
		pools = pools || strings.Contains(lines.Text(), "physics")
		if strings.Contains(lines.Text(), "href=") {
			t.Errorf("what comes later has links: %.300s", lines.Text())
		}
	}
	if !pools {
		t.Error("nothing came")
	}
}

// TestQueuedElsewhereIsShown checks that tasks that wait in another queueing system are shown, although the
// lists of tasks that wait here omit them.
func TestQueuedElsewhereIsShown(t *testing.T) {
	l := newLab(t, cluster)
	_, err := l.client.Join(t.Context(), "slurm", api.JoinRequest{
		Capacity: map[string]int64{"cpu": 8}, Instance: "one", Ledger: "ledger", Labels: map[string]string{engine.BridgeLabel: "slurm"}, Running: []queue.Ref{},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := l.submit("ann", api.Spec{Pool: "physics/curie", Argv: []string{"true"}})
	l.until(id, "queued")
	for page, want := range map[string]string{
		"/":                        "task queued elsewhere</a></p></div>",
		"/queue":                   "of the waiting tasks is <a",
		"/queue?list=queued":       fmt.Sprintf("jobs/%d", id),
		"/pool?pool=physics/curie": "of them queued elsewhere",
	} {
		if _, _, text := l.get(page); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", page, want)
		}
	}
	array := l.submit("ann", api.Spec{Pool: "physics/curie", Argv: []string{"true"}, Array: "0-2"})
	l.until(array, "queued")
	_, _, text := l.get(fmt.Sprintf("/jobs/%d?tasks=queued", array))
	if n := strings.Count(text, `aria-current="true">queued <data value="3">`); n != 1 {
		t.Errorf("the state queued is offered %d times", n)
	}
	if n := strings.Count(text, `<td><data value="queued">`); n != 3 {
		t.Errorf("%d tasks are listed as queued, want 3", n)
	}
}
