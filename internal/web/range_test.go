package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
)

// TestRangeIsInTheAddress checks that pictures show the range of since and until, that links beside them lead
// to other ranges and back, and that an invalid range is reported on a page that still works.
func TestRangeIsInTheAddress(t *testing.T) {
	l := newLab(t, cluster, pastDay)
	since, until := time.Now().Add(-6*time.Hour).Truncate(time.Second), time.Now().Add(-4*time.Hour).Truncate(time.Second)
	q := url.Values{"pool": {"physics"}, "past": {"168"}, "since": {since.UTC().Format(time.RFC3339)},
		"until": {until.UTC().Format(time.RFC3339)}}
	_, _, text := l.get("/pool?" + q.Encode())
	ends := regexp.MustCompile(`data-x-from="([^"]+)" data-x-to="([^"]+)" data-x-scale="linear" data-x-unit="clock"`).FindAllStringSubmatch(text, -1)
	for _, m := range ends {
		if m[1] != unixText(since) || m[2] != unixText(until) {
			t.Errorf("a picture is from %s to %s, want %d to %d", m[1], m[2], since.Unix(), until.Unix())
		}
	}
	if len(ends) != 8 { // four, each for a screen and a phone
		t.Errorf("there are %d pictures of time", len(ends))
	}
	shows(t, text, `name="since" value="`+since.Local().Format("2006-01-02T15:04:05")+`"`,
		`href="./pool?past=168&amp;pool=physics#history">Back to all`,
		`name="past" value="168"`, "← earlier", "later →", "closer", "wider")
	earlier := regexp.MustCompile(`href="([^"]*)">← earlier`).FindStringSubmatch(text)[1]
	if want := url.QueryEscape(since.Add(-time.Hour).UTC().Format(time.RFC3339)); !strings.Contains(earlier,
		"since="+want) || !strings.HasSuffix(earlier, "#history") {
		t.Errorf("earlier is %s, want since %s", earlier, want)
	}
	local := url.Values{"pool": {"physics"}, "since": {since.Local().Format("2006-01-02T15:04")}}
	if _, _, text = l.get("/pool?" + local.Encode()); !strings.Contains(text,
		`data-x-from="`+unixText(since.Truncate(time.Minute))) {
		t.Error("a range that a form says is not shown")
	}
	for _, bad := range []string{"since=x", "since=2026-01-01T00:00:00Z&until=2025-01-01T00:00:00Z",
		"since=1800-01-01T00:00:00Z&until=1900-01-01T00:00:00Z", "until=" + url.QueryEscape(until.Format(time.RFC3339))} {
		status, _, text := l.get("/pool?pool=physics&" + bad)
		if status != http.StatusOK || !strings.Contains(text, "; showing the last 1d") ||
			!strings.Contains(text, "Entitled and running: physics") {
			t.Errorf("%s: %d", bad, status)
		}
	}
}

// TestRangeOfAllThatIsKept checks that a range wider than the stored history shows all of the history, and
// that the page for an invalid range names the range that it shows instead.
func TestRangeOfAllThatIsKept(t *testing.T) {
	l := newLab(t, cluster, pastDay)
	_, _, text := l.get("/pool?pool=physics&since=1970-01-01T00:00:00Z&until=2099-01-01T00:00:00Z")
	m := regexp.MustCompile(`data-x-from="([^"]+)"`).FindStringSubmatch(text)
	if strings.Contains(text, "no history") || m == nil {
		t.Fatal("what is kept is not shown")
	}
	from, _ := strconv.ParseFloat(m[1], 64)
	now, begins := time.Now(), time.Unix(int64(from), 0)
	if begins.After(now.Add(-22*time.Hour)) || begins.Before(now.Add(-25*time.Hour)) {
		t.Errorf("the picture begins at %v, and 23 hours are kept", begins)
	}
	marked := regexp.MustCompile(`<a href="[^"]*past=\d+[^"]*" aria-current="true">([^<]*)<`)
	for lab, want := range map[*lab]string{l: "1d", newLab(t, cluster, pastMinutes): "1h"} {
		_, _, text := lab.get("/pool?pool=physics&since=x")
		if m := marked.FindStringSubmatch(text); m == nil || m[1] != want ||
			!strings.Contains(text, "; showing the last "+want) {
			t.Errorf("%q is marked, want %s, and that it is said", m, want)
		}
	}
}

// pastMinutes writes half an hour of history with running tasks.
func pastMinutes(t testing.TB, store queue.HistoryKeeper) {
	t.Helper()
	var all []queue.PoolHistory
	for level, l := range queue.HistoryLevels {
		h, s := queue.PoolHistory{Pool: "physics", Level: level}, l.Step.Seconds()
		for at := time.Now().Add(-30 * time.Minute).UTC().Truncate(l.Step); at.Before(time.Now().Add(-l.Step)); at = at.Add(l.Step) {
			h.Steps = append(h.Steps, queue.HistoryStep{At: at, Seconds: s, Share: 0.6 * s, Running: 4 * s, Demand: 4 * s})
		}
		if len(h.Steps) > 0 {
			all = append(all, h)
		}
	}
	if err := store.AddHistory(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// TestPagesSayOfWhenTheyAre checks that a printed page shows the instant of its values.
func TestPagesSayOfWhenTheyAre(t *testing.T) {
	l := newLab(t, cluster)
	for _, path := range []string{"/", "/queue", "/pool?pool=physics", "/machines", "/policy"} {
		before := time.Now().Truncate(time.Second)
		_, _, text := l.get(path)
		m := regexp.MustCompile(`<p class="printed">as of <time id="as-of" datetime="([^"]*)"`).FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s does not say of when it is", path)
			continue
		}
		if at, err := time.Parse(time.RFC3339, m[1]); err != nil || at.Before(before) || at.After(time.Now()) {
			t.Errorf("%s is of %v, %v", path, at, err)
		}
	}
}

func unixText(t time.Time) string { return strconv.FormatFloat(float64(t.Unix()), 'g', -1, 64) }

// TestCompareTwoPools checks that the numbers of two pools are side by side, as the command prints them, and that their
// pictures are in pairs, both to the same scale.
func TestCompareTwoPools(t *testing.T) {
	l := newLab(t, cluster, pastDay)
	example(l)
	_, _, text := l.get("/pool?pool=physics&with=biology&past=24")
	shows(t, text, "Entitled and running: physics", "Entitled and running: biology", "Oldest wait: biology",
		"fairlead shares --compare physics biology", `<option value="biology"></option>`)
	shares, err := l.client.Pools.Shares(t.Context(), "biology")
	if err != nil {
		t.Fatal(err)
	}
	cell := regexp.MustCompile(`share of parent pool</th><td class="n"><data value="0.6">([^<]*)</data></td><td class="n"><data value="0.4">([^<]*)</data></td>`).FindStringSubmatch(text)
	if cell == nil || cell[1] != "60.0%" || cell[2] != "40.0%" || shares.Pools[0].ShareHere != 0.4 {
		t.Errorf("the shares are %v, want %v", cell, shares.Pools[0].ShareHere)
	}
	tops := regexp.MustCompile(`data-y-from="([^"]*)" data-y-to="([^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(tops) != 16 {
		t.Fatalf("%d pictures, want four pairs, each twice", len(tops))
	}
	for i := 0; i < len(tops); i += 4 {
		if tops[i][2] != tops[i+2][2] {
			t.Errorf("the pictures %d of a pair end at %s and %s", i/4, tops[i][2], tops[i+2][2])
		}
	}
	for _, with := range []string{"nobody", "physics"} {
		_, _, text := l.get("/pool?pool=physics&with=" + with)
		shows(t, text, "there is no other pool "+with, "Entitled and running: physics")
	}
}

// TestPauseOnThePage checks that the page asks for confirmation and shows the affected pools, and that the
// pool and its table show the pause.
func TestPauseOnThePage(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	_, _, text := l.get("/act?verb=pause&pool=physics")
	shows(t, text, "Pause physics?", "Running tasks continue", "physics/markov", `name="for"`)
	_, text = l.post("/act", url.Values{"verb": {"pause"}, "pool": {"physics"}, "for": {"2h"}, "reason": {"new disks"}})
	shows(t, text, "Pause: done", "physics is paused until", "running tasks continue: ", "fairlead resume physics",
		"Undo: resume")
	for path, says := range map[string][]string{
		"/pool?pool=physics":       {"Paused", "new disks", "verb=resume"},
		"/pool?pool=physics/curie": {">physics</a> is paused", "verb=pause"},
		"/":                        {">paused</span>"},
	} {
		l.wait(path+" says so", func() bool { // pages may be some milliseconds old
			_, _, text := l.get(path)
			return !slices.ContainsFunc(says, func(s string) bool { return !strings.Contains(text, s) })
		})
	}
	list, err := l.client.Pools.Pauses(t.Context())
	if err != nil || len(list.Pauses) != 1 || list.Pauses[0].Reason != "new disks" || list.Pauses[0].Until.IsZero() {
		t.Errorf("the pauses are %+v, %v", list, err)
	}
	id := l.submit("ann", api.Spec{Pool: "physics/curie"})
	a, err := l.client.Jobs.Why(t.Context(), id, explain.WhyOptions{})
	if err != nil || a.Reason.Code != "gate.paused" {
		t.Errorf("why: %+v, %v", a, err)
	}
	_, text = l.post("/act", url.Values{"verb": {"resume"}, "pool": {"physics"}})
	shows(t, text, "Resume: done", "physics is resumed", "Undo: pause", "--reason &#39;new disks&#39;")
	if !regexp.MustCompile(`fairlead pause physics --for (2h|1h59m\S*) --reason`).MatchString(text) {
		t.Errorf("the command that undoes it does not say for how long:\n%s", text)
	}
	rest := regexp.MustCompile(`name="for" value="([^"]+)"`).FindStringSubmatch(text)
	if rest == nil {
		t.Fatalf("the button that undoes it does not say for how long:\n%s", text)
	}
	l.post("/act", url.Values{"verb": {"pause"}, "pool": {"physics"}, "for": {rest[1]}, "reason": {"new disks"}})
	if again, err := l.client.Pools.Pauses(t.Context()); err != nil || len(again.Pauses) != 1 ||
		again.Pauses[0].Until.Sub(list.Pauses[0].Until).Abs() > time.Minute {
		t.Errorf("the pauses are %+v again, %v; they were %+v", again, err, list)
	}
	l.post("/act", url.Values{"verb": {"resume"}, "pool": {"physics"}})
	for _, form := range []url.Values{
		{"verb": {"resume"}, "pool": {"physics"}}, {"verb": {"pause"}, "pool": {"nobody"}}, {"verb": {"pause"},
			"pool": {""}}, {"verb": {"pause"}, "pool": {"physics"}, "for": {"-1h"}},
	} {
		if status, text := l.post("/act", form); status < 400 || status >= 500 {
			t.Errorf("%v: %d\n%s", form, status, text)
		}
	}
}
