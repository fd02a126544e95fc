package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/queue"
)

// linked matches the addresses to which a page links.
var linked = regexp.MustCompile(`(?:href|data-href)="([^"#]*)"`)

// TestNamesThatNeedEscapes checks that the links of a user whose name is no valid pool name lead only to that user's
// pool and jobs.
func TestNamesThatNeedEscapes(t *testing.T) {
	l := newLab(t, "unit: cpu\n")
	for user, kind := range map[string]string{"a b": "blank", "a/b": "slash", "a_b": "line", `a"b`: "quote", "a": "short",
		"b": "other"} {
		if _, err := l.loop.Client().Submit(t.Context(),
			queue.Job{User: user, Kind: kind, Name: kind, Argv: []string{"true"}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ user, pool, kind string }{{"a b", "a=20b", "blank"}, {"a/b", "a=2Fb", "slash"},
		{"a_b", "a_b", "line"}, {`a"b`, "a=22b", "quote"}} {
		for _, page := range []string{"/pool?pool=" + url.QueryEscape(c.pool), "/pool?user=" + url.QueryEscape(c.user)} {
			l.only(page, c.pool, c.kind)
			_, _, text := l.get(page)
			followed := 0
			for _, m := range linked.FindAllStringSubmatch(text, -1) {
				address := html.UnescapeString(m[1])
				if strings.HasPrefix(address, "./queue?q=") || strings.HasPrefix(address, "queue?q=") {
					followed++
					if !strings.Contains(address, "list=ended") {
						l.only("/"+strings.TrimPrefix(address, "./"), c.pool, c.kind)
					}
				}
			}
			if followed == 0 {
				t.Errorf("%s links to no queue", page)
			}
		}
	}
	if _, _, text := l.get("/"); !strings.Contains(text, `pool?pool=a%3d20b"`) {
		t.Error("the first page does not link to the pool a=20b")
	}
	for _, page := range []string{"/", "/pool?pool=a%3D20b"} {
		if _, _, text := l.get(page); !strings.Contains(html.UnescapeString(text), `>a b<`) {
			t.Errorf("%s does not show the name for which a=20b stands", page)
		}
	}
	if _, _, text := l.get("/metrics"); !strings.Contains(text, `pool="a=20b"`) {
		t.Error("there are no metrics of the pool a=20b")
	}
	if status, _, text := l.get("/act?verb=pause&pool=a%3D20b"); status != http.StatusOK ||
		!strings.Contains(text, "a b?</h1>") {
		t.Errorf("a pause of it: %d", status)
	}
	for _, q := range []string{`user:"a b" kind:blank`, `kind:blank user:"a b"`, `u:"a b"`, `pool:a=20b`, `pool:"a=20b"`} {
		l.only("/queue?q="+url.QueryEscape(q), "a=20b", "blank")
	}
}

// only checks that a page lists the job of one kind, and none of another.
func (l *lab) only(page, pool, kind string) {
	l.t.Helper()
	status, _, text := l.get(page)
	if status != http.StatusOK || !strings.Contains(html.UnescapeString(text), pool) {
		l.t.Errorf("%s: status %d, or it lacks %s", page, status, pool)
	}
	for _, k := range []string{"blank", "slash", "line", "quote", "short", "other"} {
		if shown := strings.Contains(text, ">"+k+"<") || strings.Contains(text, ">"+k+" "); shown != (k == kind) {
			l.t.Errorf("%s: lists the job of the kind %s: %v", page, k, shown)
		}
	}
}
