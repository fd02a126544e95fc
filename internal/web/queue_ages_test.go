package web

import (
	"net/url"
	"testing"
)

// TestAgesOf: lists of ended jobs link to the jobs of the last hour, day and week. The links keep the other words of
// the filter, and the folding.
func TestAgesOf(t *testing.T) {
	for _, c := range []struct{ list, q, fold, chosen, hour, all string }{
		{"failed", "", "", "any time", "fold=cause&list=failed&q=ended%3A%3C1h", "fold=cause&list=failed"},
		{"failed", "", "jobs", "any time", "list=failed&q=ended%3A%3C1h", "fold=jobs&list=failed"},
		{"failed", `user:ann ended:<24h name:"a b"`, "", "last 24 hours",
			"list=failed&q=user%3Aann+name%3A%22a+b%22+ended%3A%3C1h", "list=failed&q=user%3Aann+name%3A%22a+b%22"},
		{"ended", "ended:<3h", "pool", "", "fold=pool&list=ended&q=ended%3A%3C1h", "fold=pool&list=ended"},
	} {
		r := &Request{Here: "/queue", Query: url.Values{"list": {c.list}, "q": {c.q}, "fold": {c.fold}, "after": {"7"}}}
		chosen := ""
		links := map[string]string{}
		for _, l := range agesOf(asEnded, c.q, r) {
			if l.On {
				chosen = l.Name
			}
			u, err := url.Parse(l.Link)
			if err != nil {
				t.Fatal(err)
			}
			links[l.Name] = u.RawQuery
		}
		if chosen != c.chosen || links["last hour"] != c.hour || links["any time"] != c.all {
			t.Errorf("%+v: chosen %q, links %q", c, chosen, links)
		}
	}
	if agesOf(asWaiting, "", &Request{}) != nil {
		t.Error("a list of waiting jobs offers ends")
	}
}
