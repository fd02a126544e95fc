package web

import "strings"

// ages are the choices of how long ago the listed jobs ended, as values of the filter's word ended.
var ages = []struct{ name, value string }{
	{"any time", ""}, {"last hour", "<1h"}, {"last 24 hours", "<24h"}, {"last 7 days", "<7d"},
}

// agesOf links a list of ended jobs to the jobs of the last hour, day or week. The list stays folded as it is.
func agesOf(list layout, filter string, r *Request) (out []sortLink) {
	if list != asEnded {
		return nil
	}
	chosen, rest := "", ""
	for word, left := nextWord(filter); word != ""; word, left = nextWord(left) {
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
		to := r.Without("fold", "q")
		if text != "" {
			to.Query.Set("q", text)
		}
		fold := singleOf(to)
		if at := foldingOf(r); at >= 0 {
			fold = foldings[at].name
		}
		out = append(out, sortLink{age.name, to.With("fold", fold), age.value == chosen})
	}
	return out
}
