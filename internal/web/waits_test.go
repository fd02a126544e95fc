package web_test

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/account"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

var (
	valueOf = regexp.MustCompile(`<data value="([^"]*)">`)
	firstOf = regexp.MustCompile(`<data value="(\d+)">[^<]*</data> tasks? first started`)
	// nearlyAll matches the percentage of nearly all of a time that began 20 minutes ago; seconds may have passed since
	// the last sample.
	nearlyAll = regexp.MustCompile(`>(99|100)\.\d%<`)

	barsOf = regexp.MustCompile(`data-series="tasks" data-value="(\d+)"`)
)

// waited returns the numbers about waits on a page (tasks, median, 95th percentile, longest) and the sum of the bars.
func (l *lab) waited(path string) (numbers []float64, bars float64) {
	l.t.Helper()
	_, _, text := l.get(path)
	_, part, _ := strings.Cut(text, "<h2>Waits</h2>")
	part, _, _ = strings.Cut(part, `<section id="jobs"`)
	if !firstOf.MatchString(part) {
		return nil, 0
	}
	for _, m := range valueOf.FindAllStringSubmatch(part, 4) {
		numbers = append(numbers, must(strconv.ParseFloat(m[1], 64)))
	}
	wide, _, _ := strings.Cut(part, "</svg>")
	for _, m := range barsOf.FindAllStringSubmatch(wide, -1) {
		bars += must(strconv.ParseFloat(m[1], 64))
	}
	return numbers, bars
}

// TestWaitsAreThoseOfTheReport checks that the pages of a pool and of a user show the same waits as the report on the
// same time, task by task, including arrays with ended, running and waiting tasks.
func TestWaitsAreThoseOfTheReport(t *testing.T) {
	l := newLab(t, cluster)
	some := []string{"sh", "-c", `[ "$FAIRLEAD_NUMBER" -lt 6 ] || sleep 600`}
	ids := []int64{
		l.submit("ann", api.Spec{Pool: "physics/curie", Array: "0-29", Argv: some}),
		l.submit("bob", api.Spec{Pool: "physics/curie", Array: "0-1", Argv: []string{"true"}, Kind: "quick"}),
		l.submit("bob", api.Spec{Pool: "biology/epi", Array: "0-9", Argv: some}),
	}
	l.submit("bob", api.Spec{Pool: "biology/epi", Argv: []string{"true"}, After: []api.After{{Job: ids[1]}}}) // counts nowhere
	l.node("n1", map[string]int64{"cpu": 8})
	full := func() bool { // bars of tasks that still wait or run
		stay := 0
		for _, id := range ids {
			for _, task := range must(l.loop.Client().Tasks(t.Context(), id)) {
				if task.State == queue.Running && task.Number >= 6 {
					stay++
				}
			}
		}
		return stay == 8
	}
	l.until(ids[1], "succeeded")
	l.wait("all is full", full)
	report := func(by string) map[string]account.Row {
		doc, err := l.client.PastReport(t.Context(),
			api.PastQuery{Since: time.Now().Add(-24 * time.Hour), Until: time.Now(), By: []string{by}})
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]account.Row{}
		for _, r := range doc.Rows {
			rows[cmp.Or(r.Pool, r.User)] = r
		}
		return rows
	}
	if n := report("pool")["physics/curie"].Started; n < 8 || n >= 32 {
		t.Fatalf("%d started: the array is to be in part running", n)
	}
	for by, names := range map[string][]string{"pool": {"physics/curie", "biology/epi"}, "user": {"ann", "bob"}} {
		for _, name := range names {
			r := report(by)[name]
			want := []float64{float64(r.Started), r.P50Wait, r.P95Wait, r.MaxWait}
			var got []float64
			var bars float64
			path := "/pool?" + by + "=" + name
			l.wait("the page knows", func() bool { got, bars = l.waited(path); return got != nil })
			if !slices.Equal(got, want) || bars != want[0] {
				t.Errorf("%s says %v, and %v in bars; the report says %v", path, got, bars, want)
			}
		}
	}
	_, _, none := l.get("/pool?pool=biology/env")
	if !strings.Contains(none, "No task first started in the last 24h") {
		t.Error("a pool of which nothing started does not say so")
	}
}

// TestReasonsOnThePageOfAPool checks that the page of a pool lists why its jobs waited in the last hour, and that the
// page of its parent lists the reasons of all its child pools.
func TestReasonsOnThePageOfAPool(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("ann", api.Spec{Pool: "physics/curie", Argv: []string{"true"}})
	l.submit("bob", api.Spec{Pool: "biology/epi", Argv: []string{"true"}})
	l.stop()
	l.age, l.lease = 20*time.Minute, time.Second // reasons are sampled eight times per lease
	l.begin()
	reasons := func(pool string) string {
		_, _, text := l.get("/pool?pool=" + pool)
		_, part, _ := strings.Cut(text, `<h3>Reasons in the last 20m</h3>`)
		part, _, _ = strings.Cut(part, "</table>")
		return part
	}
	l.wait("the reasons are sampled", func() bool { return reasons("physics/curie") != "" })
	if own := reasons("physics/curie"); strings.Contains(own, "Pool</th>") || !nearlyAll.MatchString(own) ||
		!strings.Contains(own, "<code>capacity.none</code>") {
		t.Errorf("the page of a pool:\n%s", own)
	}
	above := reasons("physics")
	if !strings.Contains(above, `pool?pool=physics%2fcurie"`) || strings.Contains(above, "biology") {
		t.Errorf("the page of the pool above:\n%s", above)
	}
}
