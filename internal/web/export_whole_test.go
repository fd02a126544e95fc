package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
)

var jsonOf = regexp.MustCompile(`<a href="([^"]*)">JSON</a>`)

// listed reads the JSON to which a page links.
func (l *lab) listed(path string) (out api.JobList) {
	l.t.Helper()
	_, _, text := l.get(path)
	status, head, text := l.get("/" + strings.TrimLeft(html.UnescapeString(jsonOf.FindStringSubmatch(text)[1]), "./"))
	if err := json.Unmarshal([]byte(text), &out); err != nil || status != http.StatusOK ||
		head.Get("Content-Type") != "application/json" {
		l.t.Fatalf("%s: status %d, %v: %v", path, status, head, err)
	}
	return out
}

// TestExportsAreWhole checks that the CSV and the JSON of a long list have all jobs that match the search, in
// the order of the pages, although a page shows only a screenful of them.
func TestExportsAreWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("much work, and nothing at once")
	}
	l := newLab(t, cluster)
	jobs := make([]queue.Job, 1300)
	for i := range jobs {
		jobs[i] = queue.Job{
			User: []string{"ann", "bob"}[i%2], Name: fmt.Sprint("job",
				i), Argv: []string{"true"}, Limit: time.Hour, Held: i%10 == 3,
			Pool: []string{"physics/markov", "physics/curie",
				"biology/epi"}[i%3], Request: queue.Amounts{"cpu": int64(1 + i%16)},
		}
	}
	if _, err := l.loop.Intake.Submit(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	l.wait("all wait", func() bool { _, n := l.loop.Running(); return n == 1170 })
	l.waiting() // waits for the order; pages do not wait for an order that takes long
	for path, want := range map[string]int{
		"/queue": 1170, "/queue?after=200": 1170, "/queue?q=user:ann+cpu:%3E8": 0, "/queue?q=name:job12": 0, "/queue?list=held": 130, "/queue?list=all": 1300, "/queue?list=all&q=pool:physics": 0, "/queue?q=user:nobody": 0,
	} {
		shown := l.walk(strings.Replace(path, "after=200", "", 1))
		if want > 0 && len(shown) != want {
			t.Errorf("%s: the pages have %d jobs, want %d", path, len(shown), want)
		}
		if got := column(t, l.sheet(path, "list"), "Job"); !slices.Equal(got, shown) {
			t.Errorf("%s: %d rows as CSV, %d on the pages: %.200q, %.200q", path, len(got), len(shown), got, shown)
		}
		list := l.listed(path)
		var ids []string
		for _, j := range list.Jobs {
			ids = append(ids, fmt.Sprint(j.ID))
		}
		if !slices.Equal(ids, shown) || list.More || list.Summary.Waiting != 1170 || list.Version != api.Version {
			t.Errorf("%s: %d jobs as JSON, %d on the pages; %+v", path, len(ids), len(shown), list.Summary)
		}
	}
	// A folded list has one line per group, and its JSON has the jobs of all groups.
	if rows := l.sheet("/queue?fold=user", "list"); len(rows) != 3 {
		t.Errorf("folded by user: %q", rows)
	}
	if n := len(l.listed("/queue?fold=user&q=user:ann").Jobs); n != len(l.walk("/queue?q=user:ann")) {
		t.Errorf("of ann there are %d jobs as JSON", n)
	}
}

// failing is a store of jobs that fails after some lists.
type failing struct {
	web.JobSource
	lists int
	order []int64 // the order, for which a page would not wait
}

func (f *failing) Waiting() int64 { return 0 }
func (f *failing) Next(context.Context, string, int64, int) (ids, places []int64) {
	return nil, nil
}
func (f *failing) InOrder(context.Context) []int64 { return f.order }
func (f *failing) List(_ context.Context, q queue.Query, _ web.JobOptions) (*api.JobList, error) {
	if f.lists--; f.lists < 0 {
		return nil, errors.New("the disk is gone")
	}
	list := &api.JobList{More: true}
	for i := range 3 {
		list.Jobs = append(list.Jobs, api.Job{ID: q.After + 1 + int64(i)})
	}
	if len(q.IDs) > 0 {
		list.Jobs = list.Jobs[:0]
		for _, id := range q.IDs {
			list.Jobs = append(list.Jobs, api.Job{ID: id})
		}
	}
	return list, nil
}

// TestExportWaitsForTheOrder checks that an export waits for the order of starts, although a page does not.
func TestExportWaitsForTheOrder(t *testing.T) {
	f := &failing{lists: 3, order: []int64{7, 5, 9}}
	mux := http.NewServeMux()
	web.New(web.Source{Server: strangersServer{}, Jobs: f}, "test", slog.New(slog.DiscardHandler)).Register(mux)
	s := httptest.NewServer(mux)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	defer s.Close()
	r, err := http.Get(s.URL + "/queue?json=list")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body) // the body ends early, after the order
	var ids []string
	for _, m := range regexp.MustCompile(`"id":(\d+)`).FindAllStringSubmatch(string(text), -1) {
		ids = append(ids, m[1])
	}
	if want := []string{"7", "5", "9"}; !slices.Equal(ids, want) {
		t.Errorf("the export has the jobs %q, want %q", ids, want)
	}
}

// TestExportThatBreaksIsNoWhole checks that the reader of a list learns of an error: before the first row from the
// status, and later because the connection breaks.
func TestExportThatBreaksIsNoWhole(t *testing.T) {
	for _, c := range []struct {
		lists, status int
		rows          string
	}{{0, http.StatusInternalServerError, ""}, {5, http.StatusOK, `{"id":4`}} {
		f := &failing{lists: c.lists}
		mux := http.NewServeMux()
		web.New(web.Source{Server: strangersServer{}, Jobs: f}, "test", slog.New(slog.DiscardHandler)).Register(mux)
		s := httptest.NewUnstartedServer(mux)
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		s.Start()
		r, err := http.Get(s.URL + "/queue?json=list")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		s.Close()
		if r.StatusCode != c.status || !strings.Contains(string(text), c.rows) ||
			(c.status == http.StatusOK) != (err != nil) {
			t.Errorf("after %d lists: status %d, %v: %s", c.lists, r.StatusCode, err, text)
		}
	}
}
