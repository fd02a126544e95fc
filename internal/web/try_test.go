package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

var stopsAre = regexp.MustCompile(`data-for="try-(\w)" data-stops="([^"]*)"`)

// stops returns the values of the sliders of a job.
func stops(text string) map[string][]string {
	out := map[string][]string{}
	for _, m := range stopsAre.FindAllStringSubmatch(text, -1) {
		out[m[1]] = strings.Split(m[2], ",")
	}
	return out
}

// TestWhatIfIsApplied checks that a what-if offers the change itself, if the waiting job can be changed in that way.
func TestWhatIfIsApplied(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n", map[string]int64{"cpu": 4})
	l.until(l.submit("ann", api.Spec{Pool: "physics/curie", Request: map[string]int64{"cpu": 4}}), "running")
	id := l.submit("ann", api.Spec{Pool: "physics/curie", LimitSeconds: 300, Request: map[string]int64{"cpu": 2}})
	job := func() *api.Job {
		r, err := l.client.Jobs.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return &r.Job
	}
	offer := regexp.MustCompile(`data-ask href="[^"]*(act\?[^"]*)">([^<]*)</a></p>`)
	apply := func(query, says string, button string) {
		t.Helper()
		_, _, text := l.get(fmt.Sprintf("/jobs/%d?%s", id, query))
		found := offer.FindStringSubmatch(text)
		if found == nil || found[2] != says {
			t.Fatalf("%s offers %q, want %q\n%s", query, found, says, text)
		}
		_, _, text = l.get("/" + strings.ReplaceAll(found[1], "&amp;", "&"))
		shows(t, text, button)
		form, err := url.ParseQuery(strings.ReplaceAll(strings.TrimPrefix(found[1], "act?"), "&amp;", "&"))
		if err != nil {
			t.Fatal(err)
		}
		_, text = l.post("/act", form)
		shows(t, text, ": done")
	}
	apply("t=600", "Set limit 10m", "has 5m now")
	apply("pool=biology/env", "Move to biology/env", "waits in the other pool")
	if j := job(); j.LimitSeconds != 600 || j.Pool != "biology/env" {
		t.Errorf("the job has a limit of %v s, in %s", j.LimitSeconds, j.Pool)
	}
	for _, query := range []string{"c=1", "t=1200&pool=physics/curie"} {
		if _, _, text := l.get(fmt.Sprintf("/jobs/%d?%s", id, query)); offer.MatchString(text) {
			t.Errorf("%s can be applied in one step", query)
		}
	}
	_, text := l.post("/act", url.Values{"verb": {"limit"}, "job": {fmt.Sprint(id)}, "limit": {"soon"}})
	shows(t, text, "is not a number of seconds")
}

// TestSlidersStartWhereTheJobIs checks that the sliders contain the job's own values, and small ones.
func TestSlidersStartWhereTheJobIs(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n", map[string]int64{"cpu": 16})
	l.until(l.submit("ann", api.Spec{Pool: "physics/curie", Request: map[string]int64{"cpu": 16}}), "running")
	for _, c := range []struct {
		seconds float64
		cpus    int64
		value   string
		limits  []string
	}{
		{57 * 60, 3, "57m", []string{"10m", "45m", "57m", "1h", "2h"}}, {3 * 3600, 1, "3h",
			[]string{"30s", "10m", "2h30m", "4h", "6h"}},
		{4211.5, 1000, "1h10m11s500ms", []string{"1m"}}, {0, 7, "none", []string{"10m", "1d", "28d", "none"}}, {5, 2, "5s",
			[]string{"5s", "10s"}},
	} {
		id := l.submit("ann", api.Spec{Pool: "physics/curie", LimitSeconds: c.seconds,
			Request: map[string]int64{"cpu": c.cpus}})
		_, _, text := l.get(fmt.Sprint("/jobs/", id))
		shows(t, text, fmt.Sprintf(`name="t" value="%s"`, c.value), fmt.Sprintf(`name="c" value="%d"`, c.cpus))
		all := stops(text)
		for _, want := range c.limits {
			if !slices.Contains(all["t"], want) {
				t.Errorf("with a limit of %v s there is no %q: %q", c.seconds, want, all["t"])
			}
		}
		for _, want := range []string{"1", fmt.Sprint(c.cpus)} {
			if !slices.Contains(all["c"], want) {
				t.Errorf("with %d cpu there is no %s: %q", c.cpus, want, all["c"])
			}
		}
		if len(all["t"]) > 60 || len(all["c"]) > 100 {
			t.Errorf("the sliders have %d and %d places", len(all["t"]), len(all["c"]))
		}
		// An unchanged form asks for nothing else.
		same := fmt.Sprintf("/jobs/%d?t=%s&c=%d", id, c.value, c.cpus)
		if _, _, text := l.get(same); strings.Contains(text, "instead of") || !strings.Contains(text, "Move a slider") {
			t.Errorf("%s asks for something else", same)
		}
	}
}

// TestWhatIfByAddress checks that an address can ask a what-if question, in seconds or as a duration, even beyond the
// sliders, and that errors are reported.
func TestWhatIfByAddress(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n", map[string]int64{"cpu": 16})
	l.until(l.submit("ann", api.Spec{Pool: "physics/curie", Request: map[string]int64{"cpu": 16}}), "running")
	id := l.submit("ann", api.Spec{Pool: "physics/curie", LimitSeconds: 3 * 3600, Request: map[string]int64{"cpu": 3}})
	for query, words := range map[string][]string{
		"t=600": {"<b>10m</b> instead of 3h", "--what-if", "t=10m"}, "t=7m": {"<b>7m</b> instead of 3h",
			">7m<"}, "t=90d": {"<b>90d</b> instead of 3h"}, "c=4": {"<b>4</b> instead of 3", "cpus=4"},
		"c=5000": {"5000", "never start"}, "t=NaN": {"problem",
			"time limit: "}, "t=-5m": {"is negative"}, "t=0": {"not a possible limit"}, "c=0": {"not a whole number"},
		"c=1e300": {"not a whole number"}, "t=none": {"<b>none</b> instead of 3h", "t=none"},
		"t=x&c=y": {"time limit: ", "not a whole", `name="t" value="x"`, `name="c" value="y"`},
	} {
		status, _, text := l.get(fmt.Sprint("/jobs/", id, "?", query))
		if status != http.StatusOK {
			t.Errorf("%s: %d", query, status)
		}
		for _, w := range words {
			if !strings.Contains(text, w) {
				_, part, _ := strings.Cut(text, `id="try"`)
				t.Errorf("%s: the page does not say %q:\n%.3500s", query, w, part)
			}
		}
	}
	if _, text := l.post("/act", url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(id)}}); !strings.Contains(text,
		"done") {
		t.Fatal("the job is not canceled")
	}
	_, _, text := l.get(fmt.Sprint("/jobs/", id, "?c=4"))
	shows(t, text, `id="try-answer"`, fmt.Sprintf("Job %d is canceled by now", id))
	if _, _, text := l.get(fmt.Sprint("/jobs/", id)); strings.Contains(text, "try-answer") {
		t.Error("a job that was canceled has sliders")
	}
}
