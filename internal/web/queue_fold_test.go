package web

import (
	"net/url"
	"testing"
	"time"
)

// TestFoldLink checks that the link of a folded line selects the jobs of that line, whatever characters the name has.
func TestFoldLink(t *testing.T) {
	r := &Request{Here: "/queue", Query: url.Values{"q": {"pool:a"}, "fold": {"kind"}, "after": {"7"}}}
	for _, kind := range []string{"render", "two words", `a "quoted" word`, "a:b", "tab\tand\nline"} {
		u, err := url.Parse(foldLink(r, "kind", kind))
		if err != nil || u.Query().Has("fold") || u.Query().Has("after") {
			t.Fatalf("%q: %v, %v", kind, u, err)
		}
		if f := parseFilter(u.Query().Get("q"), time.Now()); f.Query.Kind != kind || f.Query.Pool != "a" {
			t.Errorf("%q: the link leads to kind %q, pool %q", kind, f.Query.Kind, f.Query.Pool)
		}
	}
	if link := foldLink(r, "kind", ""); link != "" {
		t.Errorf("without a name: %s", link)
	}
}
