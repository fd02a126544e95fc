package web

import "strings"

// ages are the choices of how long ago the listed jobs ended, as values of the filter's word ended.
var ages = []struct{ name, value string }{
	{"any time", ""}, {"last hour", "<1h"}, {"last 24 hours", "<24h"}, {"last 7 days", "<7d"},
}

// agesOf links a list of ended jobs to the jobs of the last hour, day or week. The list stays folded as it is.
func (q *Queue) agesOf(r *Request) (out []sortLink) {
	if q.Columns != asEnded {
		return nil
	}
	chosen, rest := "", ""
	for word, left := nextWord(q.Filter.Text); word != ""; word, left = nextWord(left) {
		if value, ended := strings.CutPrefix(word, "ended:"); ended {
			chosen = value
		} else {
			rest = strings.TrimSpace(rest + " " + word)
		}
	}
	for _, age := range ages {
		text := rest
		if age.value != "" {
			text = strings.TrimSpace(rest + " ended:" + age.value)
		}
		to := r.Without("fold")
		if at := foldingOf(r); at >= 0 {
			to.Query.Set("fold", foldings[at].name)
		} else if text == "" && r.Word("list") == "failed" {
			to.Query.Set("fold", single)
		}
		out = append(out, sortLink{age.name, to.With("q", text), age.value == chosen})
	}
	return out
}
