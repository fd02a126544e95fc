package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
)

// TestQueueSortsByColumn checks that the head of a column sorts all jobs that match, on all pages and in files, that it
// shows the order, and that a list keeps its own order otherwise.
func TestQueueSortsByColumn(t *testing.T) {
	l := newLab(t, cluster)
	jobs := make([]queue.Job, 230)
	for i := range jobs {
		jobs[i] = queue.Job{
			User: fmt.Sprint("user", i*7%11), Name: fmt.Sprint("job", i), Argv: []string{"true"},
			Pool:    []string{"physics/curie", "biology/epi", "biology/env"}[i%3],
			Request: queue.Amounts{"cpu": int64(1 + i*5%13)}, Limit: time.Duration(i%4) * time.Hour,
		}
	}
	if _, err := l.loop.Intake.SubmitAnyway(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	l.wait("all wait", func() bool { _, w := l.loop.Running(); return w == int64(len(jobs)) })
	l.waiting()
	sorted := func(less func(a, b *queue.Job) int) (out []string) {
		var ids []int
		for i := range jobs {
			ids = append(ids, i)
		}
		slices.SortStableFunc(ids, func(a, b int) int { return less(&jobs[a], &jobs[b]) })
		for _, id := range ids {
			out = append(out, fmt.Sprint(id+1))
		}
		return out
	}
	number := sorted(func(_, _ *queue.Job) int { return 0 })
	back := slices.Clone(number)
	slices.Reverse(back)
	limit := func(j *queue.Job) time.Duration { // jobs without a limit come last
		if j.Limit == 0 {
			return 1000 * time.Hour
		}
		return j.Limit
	}
	for path, want := range map[string][]string{
		"/queue?sort=job": number, "/queue?sort=-job": back, "/queue?sort=-submitted": back,
		"/queue?list=all": back, "/queue?list=all&sort=job": number, "/queue?list=all&sort=left": back,
		"/queue?sort=user":           sorted(func(a, b *queue.Job) int { return strings.Compare(a.User, b.User) }),
		"/queue?list=all&sort=-pool": sorted(func(a, b *queue.Job) int { return strings.Compare(b.Pool, a.Pool) }),
		"/queue?sort=-size":          sorted(func(a, b *queue.Job) int { return int(b.Request["cpu"] - a.Request["cpu"]) }),
		"/queue?sort=limit":          sorted(func(a, b *queue.Job) int { return int(limit(a) - limit(b)) }),
	} {
		if got := l.walk(path); !slices.Equal(got, want) {
			t.Errorf("%s: %d jobs, want %d:\n%v\n%v", path, len(got), len(want), got, want)
		}
		if got := column(t, l.sheet(path, "list"), "Job"); !slices.Equal(got, want) {
			t.Errorf("%s: the file has %d jobs, want %d:\n%v\n%v", path, len(got), len(want), got, want)
		}
	}
	for path, heads := range map[string][]string{
		"/queue": {`aria-sort="ascending"><a href="./queue">Rank`,
			`<th scope="col"><a href="./queue?sort=user">User`},
		"/queue?sort=user": {`aria-sort="ascending"><a href="./queue?sort=-user">User`, `<a href="./queue">Rank`},
		"/queue?q=user:user3&sort=-size": {`aria-sort="descending"><a href="./queue?q=user%3Auser3&amp;sort=size">cpu`,
			`<input type="hidden" name="sort" value="-size">`},
		"/queue?list=all":       {`aria-sort="descending"><a href="./queue?list=all&amp;sort=job">Job`},
		"/queue?sort=submitted": {`aria-sort="descending"><a href="./queue?sort=-submitted">Age`},
		"/queue?sort=nothing":   {"sorted by start"},
	} {
		if shows(t, l.text(path), heads...); strings.Count(l.text(path), "aria-sort") != 1 {
			t.Errorf("%s shows several orders, or none", path)
		}
	}
	web.SetMaxSorted(t, 100) // read in pieces of 500, so still all jobs
	if got := l.walk("/queue?sort=user"); len(got) != len(jobs) {
		t.Errorf("%d jobs are sorted", len(got))
	}
}

// text returns a page.
func (l *lab) text(path string) string {
	l.t.Helper()
	_, _, text := l.get(path)
	return text
}

// TestQueueSaysHowManyAreSorted checks that a page that sorts only some jobs says so, and that a file has all.
func TestQueueSaysHowManyAreSorted(t *testing.T) {
	l := newLab(t, cluster)
	l.fill(1100)
	web.SetMaxSorted(t, 500)
	shows(t, l.text("/queue?sort=-user"), "sorted: the first 500 jobs only")
	shows(t, l.text("/queue?list=all&sort=user"), "sorted: the newest 500 jobs only")
	if n := len(l.walk("/queue?list=all&sort=user")); n != 500 {
		t.Errorf("the pages have %d jobs", n)
	}
	rows := column(t, l.sheet("/queue?list=all&sort=-user", "list"), "User")
	if len(rows) != 1100 || rows[0] != "bob" || rows[549] != "bob" || rows[550] != "ann" {
		t.Errorf("the file has %d rows", len(rows))
	}
}

// TestQueueSortsByTime checks the orders of running jobs (by elapsed and remaining time) and of ended jobs (by end,
// length and memory). Jobs without a value come last.
func TestQueueSortsByTime(t *testing.T) {
	l := newLab(t, cluster)
	hours := func(h float64) float64 { return h * 3600 }
	var ids []string
	for _, limit := range []float64{3, 0, 1, 2} {
		id := l.submit("ann", api.Spec{LimitSeconds: hours(limit)})
		ids = append(ids, fmt.Sprint(id))
	}
	l.node("n1", map[string]int64{"cpu": 4})
	for i := range ids {
		l.until(int64(i+1), "running")
	}
	first := func(path string, want ...string) {
		t.Helper()
		if got := l.walk(path); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	first("/queue?list=running&sort=left", "3", "4", "1", "2")
	first("/queue?list=running&sort=-left", "1", "4", "3", "2")
	first("/queue?list=running&sort=-limit", "1", "4", "3", "2")
	if n := len(l.walk("/queue?list=running&sort=elapsed")); n != 4 {
		t.Errorf("%d jobs run", n)
	}
	for i, id := range []int64{2, 4, 1, 3} {
		form := url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(id)}}
		if status, _ := l.post("/act", form); status != http.StatusOK {
			t.Fatal(i, status)
		}
		l.until(id, "cancelled")
	}
	first("/queue?list=ended&sort=ended", "2", "4", "1", "3")
	first("/queue?list=ended&sort=-ended", "3", "1", "4", "2")
	for _, by := range []string{"ran", "-ran", "memory"} {
		if n := len(l.walk("/queue?list=ended&sort=" + by)); n != 4 {
			t.Errorf("sorted by %s, %d jobs have ended", by, n)
		}
	}
	if m := regexp.MustCompile(`<th[^>]*>Time left</th>`).FindString(l.text("/queue?list=running")); m != "" {
		t.Errorf("the head is no link: %s", m)
	}
}
