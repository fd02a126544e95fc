package web_test

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
)

var exportOf = regexp.MustCompile(`<a href="([^"]*)" download>(\w+)</a>`)

// sheet reads a table of a page as CSV.
func (l *lab) sheet(path, name string) (rows [][]string) {
	l.t.Helper()
	_, _, text := l.get(path)
	for _, m := range exportOf.FindAllStringSubmatch(text, -1) {
		if m[2] != name {
			continue
		}
		status, head, text := l.get("/" + strings.TrimLeft(html.UnescapeString(m[1]), "./"))
		if status != http.StatusOK || head.Get("Content-Type") != "text/csv; charset=utf-8" ||
			head.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(head.Get("Content-Disposition"), "attachment;") {
			l.t.Errorf("%s: status %d, %v", m[1], status, head)
		}
		in := csv.NewReader(strings.NewReader(text))
		in.FieldsPerRecord = -1
		rows, err := in.ReadAll()
		if err != nil {
			l.t.Fatalf("%s: %v\n%s", m[1], err, text)
		}
		return rows
	}
	l.t.Fatalf("%s has no table %s", path, name)
	return nil
}

// column returns a column of a table, by its head.
func column(t *testing.T, rows [][]string, name string) (cells []string) {
	t.Helper()
	i := slices.IndexFunc(rows[0], func(h string) bool { return strings.EqualFold(h, name) })
	if i < 0 {
		t.Fatalf("there is no column %q: %q", name, rows[0])
	}
	for _, r := range rows[1:] {
		if i < len(r) {
			cells = append(cells, r[i])
		}
	}
	return cells
}

// TestExportsAreThePages checks that every table is available as CSV, with the exact numbers that --json
// prints, and that no name becomes a formula.
func TestExportsAreThePages(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n1", map[string]int64{"cpu": 4, "mem": 8 << 30})
	for i := range 3 {
		l.submit("ann", api.Spec{Name: fmt.Sprint("=cmd|' /C calc'!A", i), Pool: "physics/curie",
			Request: map[string]int64{"cpu": 64}})
	}
	l.submit("bob", api.Spec{Name: "@SUM(1+1)", Kind: "-1+1", Pool: "biology/env", Request: map[string]int64{"cpu": 64}})
	l.wait("all wait", func() bool { _, n := l.loop.Running(); return n == 4 })
	shares, err := l.client.Pools.Shares(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	rows := l.sheet("/", "pools")
	var want, waiting []string
	for _, p := range shares.Pools[1:] {
		want, waiting = append(want, strconv.FormatFloat(p.ShareHere, 'f', -1, 64)), append(waiting, fmt.Sprint(p.Waiting))
	}
	if got := column(t, rows, "Share"); !slices.Equal(got, want) {
		t.Errorf("the shares are %q, want %q", got, want)
	}
	if got := column(t, rows, "Waiting"); !slices.Equal(got, waiting) {
		t.Errorf("so many wait: %q, want %q", got, waiting)
	}
	var ids []string
	for _, j := range l.waiting() {
		ids = append(ids, fmt.Sprint(j.ID))
	}
	slices.Sort(ids)
	got := column(t, l.sheet("/queue?q=cpu:>1", "list"), "Job")
	if shown := l.walk("/queue?q=cpu:>1"); !slices.Equal(got, shown) {
		t.Errorf("the queue is %q, and the page shows %q", got, shown)
	}
	if slices.Sort(got); !slices.Equal(got, ids) {
		t.Errorf("the queue is %q, want %q", got, ids)
	}
	if got := l.sheet("/queue?q=user:bob", "list"); len(got) != 2 {
		t.Errorf("of bob: %q", got)
	}
	if got := column(t, l.sheet("/machines", "nodes"), "Machine"); !slices.Equal(got, []string{"n1"}) {
		t.Errorf("the nodes are %q", got)
	}
	for _, path := range append(everyPage, "/queue") {
		_, _, text := l.get(path)
		for _, m := range exportOf.FindAllStringSubmatch(text, -1) {
			for _, row := range l.sheet(path, m[2]) {
				for _, cell := range row {
					if _, err := strconv.ParseFloat(cell, 64); err != nil && len(cell) > 1 &&
						strings.ContainsAny(cell[:1], "=+-@\t\r") {
						t.Errorf("%s, %s: %q is a formula", path, m[2], cell)
					}
				}
			}
		}
	}
	if status, _, text := l.get("/queue?csv=nothing"); status != http.StatusNotFound ||
		!strings.Contains(text, "has no table &#34;nothing&#34;<") {
		t.Errorf("a table that there is not: status %d", status)
	}
}

// TestJSONBehindPages checks that each page links to its data as JSON.
func TestJSONBehindPages(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("ann", api.Spec{Pool: "physics/curie"})
	for _, path := range []string{"/", "/queue", "/pool?pool=physics", "/jobs/1", "/machines", "/policy"} {
		_, _, text := l.get(path)
		m := regexp.MustCompile(`<a href="([^"]*)">JSON</a>`).FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s leads to no JSON", path)
			continue
		}
		status, head, _ := l.get("/" + strings.TrimLeft(html.UnescapeString(m[1]), "./"))
		if status != http.StatusOK || head.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s: status %d, %s", path, m[1], status, head.Get("Content-Type"))
		}
	}
}
