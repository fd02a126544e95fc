package web_test

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/queue"
)

var (
	rowOf  = regexp.MustCompile(`<tr data-key="(\d+)"`)
	nextOf = regexp.MustCompile(`href="([^"]*)" rel="next"`)
)

// walk follows a list from page to page, and returns the numbers of its jobs.
func (l *lab) walk(path string) (ids []string) {
	l.t.Helper()
	for range 50 {
		_, _, text := l.get(path)
		for _, m := range rowOf.FindAllStringSubmatch(text, -1) {
			ids = append(ids, m[1])
		}
		next := nextOf.FindStringSubmatch(text)
		if next == nil {
			return ids
		}
		path = "/" + strings.TrimPrefix(html.UnescapeString(next[1]), "./")
	}
	l.t.Fatalf("%s has no end", path)
	return nil
}

// TestQueueIsInOrder checks that the pages of the queue list the waiting jobs in the order of starts, and
// then the jobs without a place in it, each job once.
func TestQueueIsInOrder(t *testing.T) {
	l := newLab(t, cluster)
	jobs := make([]queue.Job, 450)
	for i := range jobs {
		jobs[i] = queue.Job{
			User: []string{"ann", "bob"}[i%2], Name: fmt.Sprint("job", i), Kind: []string{"a", "b",
				"c"}[i%3], Argv: []string{"true"}, Limit: time.Hour,
			Pool: []string{"physics/markov", "physics/curie",
				"biology/epi"}[i%3], Request: queue.Amounts{"cpu": int64(1 + i%16)},
		}
		if i%10 == 9 { // asks for all licenses: except for the first of them, these jobs have no place in the order
			jobs[i].Licenses = queue.Amounts{"matlab": 5}
		}
	}
	subs, err := l.loop.Intake.SubmitAnyway(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subs {
		if s.Err != nil {
			t.Fatal(s.Err)
		}
	}
	l.wait("all wait", func() bool { _, w := l.loop.Running(); return w == int64(len(jobs)) })
	var order *explain.Order
	var placed []int64
	// On a busy machine the order may at first reflect an older state.
	l.wait("the order is that of all", func() bool {
		before := placed
		order = explain.New(l.loop).Order(t.Context())
		placed, _ = order.After("", 0, len(jobs))
		return len(placed) > len(jobs)/2 && slices.Equal(placed, before)
	})
	var want []string
	for _, id := range placed {
		want = append(want, fmt.Sprint(id))
	}
	for id := int64(1); id <= int64(len(jobs)); id++ {
		if order.Position[id] == 0 {
			want = append(want, fmt.Sprint(id))
		}
	}
	l.waiting() // waits until the server knows the order, too
	if got := l.walk("/queue"); !slices.Equal(got, want) {
		t.Errorf("%d jobs, want %d:\n%v\n%v", len(got), len(want), got, want)
	}
	for query, passes := range map[string]func(j *queue.Job) bool{
		"user:ann":                      func(j *queue.Job) bool { return j.User == "ann" },
		"pool:physics kind:a":           func(j *queue.Job) bool { return j.Kind == "a" && strings.HasPrefix(j.Pool, "physics") },
		"job44":                         func(j *queue.Job) bool { return strings.Contains(j.Name, "job44") },
		"cpu:>12 user:bob":              func(j *queue.Job) bool { return j.User == "bob" && j.Request["cpu"] >= 12 },
		"wait:>1d":                      func(*queue.Job) bool { return false },
		"wait:<1d state:waiting cpu:<2": func(j *queue.Job) bool { return j.Request["cpu"] < 2 },
	} {
		var some []string
		for _, id := range want {
			var n int
			fmt.Sscan(id, &n)
			if passes(&jobs[n-1]) {
				some = append(some, id)
			}
		}
		if got := l.walk("/queue?q=" + strings.ReplaceAll(query, " ", "+")); !slices.Equal(got, some) {
			t.Errorf("%s: %d jobs, want %d", query, len(got), len(some))
		}
	}
	if got := l.walk("/queue?list=all"); len(got) != len(jobs) || got[0] != fmt.Sprint(len(jobs)) {
		t.Errorf("all are %d, the first %s", len(got), got[0])
	}
}

// TestFilterSaysWhatItDoesNotUnderstand checks that the page names words that it does not understand.
func TestFilterSaysWhatItDoesNotUnderstand(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("ann", api.Spec{Pool: "physics/curie"})
	for query, want := range map[string]string{"state:sleeping": "unknown state", "wait:soon": "wait: ",
		"colour:red": "Unknown filter", "cpu:": "No job matches", "cpu:%3E99999999999999999999": "cpu: 99999999999999999999 is too large", "cpu:%3C-1": "cpu: -1 is negative", "cpu:1.5": "cpu: 1.5 is not a whole number", strings.Repeat("x", 600): "longer than"} {
		if _, _, text := l.get("/queue?q=" + query); !strings.Contains(text, want) {
			t.Errorf("%.20s: the page does not say %q", query, want)
		}
	}
}

// TestWhatWaits checks that the queue lists every job with a waiting task, including arrays whose other tasks run. The
// page Now lists the longest waits as the pools measure them, without jobs that may not begin yet.
func TestWhatWaits(t *testing.T) {
	l := newLab(t, cluster)
	hour := time.Now().Add(time.Hour)
	later := l.submit("eve", api.Spec{Pool: "physics/curie", Begin: &hour})
	l.node("n1", map[string]int64{"cpu": 4})
	arrays := []int64{
		l.submit("ann", api.Spec{Pool: "physics/curie", Array: "0-59%2"}),
		l.submit("bob", api.Spec{Pool: "biology/epi", Array: "0-59"}),
	}
	one := l.submit("bob", api.Spec{Pool: "biology/epi"})
	busy := l.submit("cid", api.Spec{Pool: "biology/env", Request: map[string]int64{"cpu": 100}})
	l.wait("all is full", func() bool { running, _ := l.loop.Running(); return running == 4 })
	for _, id := range arrays {
		l.until(id, "running")
	}
	list := func(path string, want ...int64) {
		t.Helper()
		var texts []string
		for _, id := range want {
			texts = append(texts, fmt.Sprint(id))
		}
		got := l.walk(path)
		slices.Sort(got)
		if slices.Sort(texts); !slices.Equal(got, texts) {
			t.Errorf("%s lists %v, want %v", path, got, texts)
		}
	}
	list("/queue", later, arrays[0], arrays[1], one, busy)
	list("/queue?q=user:bob", arrays[1], one)
	list("/queue?q=user:bob+state:waiting", one)
	list("/queue?q=user:bob+state:running", arrays[1])
	list("/queue?list=running", arrays...)
	_, _, now := l.get("/")
	var oldest []string
	_, rows, _ := strings.Cut(now, "Longest waits")
	for _, m := range rowOf.FindAllStringSubmatch(rows, -1) {
		oldest = append(oldest, m[1])
	}
	var want []string
	for _, id := range []int64{arrays[0], arrays[1], one, busy} {
		want = append(want, fmt.Sprint(id))
	}
	if !slices.Equal(oldest, want) {
		t.Errorf("these wait longest: %v, want %v", oldest, want)
	}
	if strings.Contains(now, "Lag 24h") || strings.Contains(now, "the last 24 hours; above") {
		t.Error("what is owed is said to be of a day, and the server has just started")
	}
	_, tile, _ := strings.Cut(now, "Oldest wait")
	if named := regexp.MustCompile(`jobs/(\d+)"`).FindStringSubmatch(tile); named == nil || named[1] != want[0] {
		t.Errorf("the tile names %v, want %s", named, want[0])
	}
}

// TestNoTimeLeftWithoutALimit checks that a list of jobs in all states shows where a job runs, and its remaining time
// only if it has a limit.
func TestNoTimeLeftWithoutALimit(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n1", map[string]int64{"cpu": 4})
	endless := l.submit("ann", api.Spec{Pool: "physics/curie"})
	limited := l.submit("ann", api.Spec{Pool: "physics/curie", LimitSeconds: 7200})
	for _, id := range []int64{endless, limited} {
		l.until(id, "running")
	}
	for id, want := range map[int64]string{endless: `on n1</td>`, limited: `on n1, 1h59m left</td>`} {
		_, row, _ := strings.Cut(l.text("/queue?list=all"), fmt.Sprintf(`<tr data-key="%d"`, id))
		row, _, _ = strings.Cut(row, "</tr>")
		if text := exactly.ReplaceAllString(row, ""); !strings.Contains(text, want) {
			t.Errorf("the row of job %d does not say %q: %s", id, want, text)
		}
	}
}

// TestHeadOfAFoldedList checks that the first column of a folded list has a name, as the others have.
func TestHeadOfAFoldedList(t *testing.T) {
	l := newLab(t, cluster)
	shows(t, l.text("/queue?fold=user"), `<th scope="col">User</th>`)
	shows(t, l.text("/queue?list=failed"), `<th scope="col">Cause</th>`)
}
