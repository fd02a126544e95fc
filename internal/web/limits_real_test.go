//go:build real

package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/history"
	"github.com/fairlead/fairlead/internal/instant"
)

// TestRealLimitRows checks that licenses and rates have rows among the machines, whose values under the
// pointer and in the table below agree with the history.
func TestRealLimitRows(t *testing.T) {
	l := newLab(t, cluster+"rates: {mail: 2/m}\n")
	l.stop()
	l.age = 15 * time.Minute // the history has points of three minutes; in one of them 4 were in use
	l.begin()
	l.loop.Update(func(s *engine.State) {
		past, used := time.Now().Add(-12*time.Minute), &engine.LimitPast{}
		used.Hold(past, past.Add(6*time.Minute), 4)
		s.Limits = map[engine.LimitKey]*engine.LimitPast{{Name: "matlab"}: used}
	})
	example(l)
	for range 60 {
		l.submit("curie", api.Spec{Name: "post", Pool: "physics/curie", Argv: []string{"true"}, Rates: []string{"mail"},
			LimitSeconds: 60})
	}
	b := browse(t)
	b.open(l.url + "/machines")
	b.until(`[...document.querySelectorAll("#plan .wide title")].some((t) => /^rate mail: used up by waiting tasks\nuntil /.test(t.textContent))`)
	b.until(`[...document.querySelectorAll("#plan .wide title")].some((t) => /^license matlab: 4 of 5 in use\nfrom /.test(t.textContent))`)
	series := history.New(l.loop).LimitSeries(6 * time.Hour)
	if len(series) != 2 || series[0].Name != "matlab" || len(series[0].Ahead) != 2 {
		t.Fatalf("the history is %+v", series)
	}
	clock := func(i int) string { return instant.Clock(series[0].Ahead[i].Until, time.Now()) }
	want := []string{"license matlab: 5 of 5 held by running tasks\nuntil " + clock(0) + " at the latest",
		"license matlab: 1 of 5 held by running tasks\nuntil " + clock(1) + " at the latest"}
	all := strings.Join(texts(b, "#plan .wide title"), "\n\n")
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("no box says %q:\n%s", w, all)
		}
	}
	for _, row := range []string{"matlab: 5", "mail: 2/m"} {
		if !strings.Contains(strings.Join(texts(b, "#plan .wide g text"), "|"), row) {
			t.Errorf("there is no row %q", row)
		}
	}
	free := "4 at " + clock(0) + ", 5 at " + clock(1)
	if got := texts(b, `#limits tr[data-key=license-matlab] td[data-of="free by"]`); len(got) != 1 || got[0] != free {
		t.Errorf("it is free by %q, want %q", got, free)
	}
	b.looks("limits")
	b.clean(l.url)
}
