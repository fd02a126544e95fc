//go:build real

package web_test

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
)

// TestRealPriority changes the priority of ticked jobs in a browser. The dialog first shows the effect on the order,
// the order then agrees with it, and the change is undone.
func TestRealPriority(t *testing.T) {
	l := newLab(t, "policy: fair\npools: {physics: {weight: 1}}\n")
	var ids []int64
	for i := range 6 {
		ids = append(ids, l.submit([]string{"ann", "bob"}[i/4], api.Spec{Name: fmt.Sprint("fit", i), Pool: "physics"}))
	}
	place := func(id int64) int64 {
		return explain.New(l.loop).Order(t.Context()).Position[id]
	}
	b := browse(t)
	b.open(l.url + "/queue?q=user:bob")
	b.do(press("#tick-all"))
	b.do(press("#bulk button[value=prioritise]"))
	b.until(`document.getElementById("ask").open && document.getElementById("ask").innerText.includes("Change the priority of 2 jobs?") && document.querySelector("#ask button.main").disabled`)
	b.do(press("#ask button[value=high]"))
	b.until(`document.querySelector("#ask button[value=high]")?.getAttribute("aria-current") === "true" && document.getElementById("ask").innerText.includes("4 other jobs would start later")`)
	for i, id := range ids {
		if l.priority(id) != "normal" || place(id) != int64(i+1) {
			t.Errorf("to ask has changed job %d", id)
		}
	}
	b.looks("priority")
	told := texts(b, "#others tbody td:last-child")
	b.do(press("#ask button.main"))
	b.until(`document.querySelector("#ask h1").textContent === "Priority high: done"`)
	if got := place(ids[4]); got != 1 || !slices.Equal(told,
		[]string{"rank 1 → rank 3", "rank 2 → rank 4", "rank 3 → rank 5", "rank 4 → rank 6"}) {
		t.Errorf("the first of bob has place %d; it was told %q", got, told)
	}
	b.do(press("#ask form button"))
	b.until(`document.querySelector("#ask h1").textContent === "Priority normal: done"`)
	if l.priority(ids[4]) != "normal" || place(ids[4]) != 5 {
		t.Errorf("it was not undone: %s, place %d", l.priority(ids[4]), place(ids[4]))
	}
	b.do(chromedp.KeyEvent("\x1b"))
	b.until("!document.getElementById('ask').open")
	b.clean(l.url)
}

// TestRealWholeLists checks that the links at the foot of the queue lead to all matching jobs, from any page
// of the list.
func TestRealWholeLists(t *testing.T) {
	l := newLab(t, cluster)
	var specs []api.Spec
	for i := range 250 {
		specs = append(specs, api.Spec{Name: fmt.Sprint("run", i), Pool: "physics/curie", Argv: []string{"true"}})
	}
	if _, err := l.client.Jobs.Submit(t.Context(), api.SubmitRequest{Jobs: specs}); err != nil {
		t.Fatal(err)
	}
	b := browse(t)
	b.open(l.url + "/queue?q=name:run1")
	b.do(press("a[rel=next]"))
	b.until(`location.search.includes("after=") && document.getElementById("status").dataset.state === "live"`)
	const want = 111 // run1, run10 to run19 and run100 to run199
	get := `fetch([...document.querySelectorAll("footer a")].find((a) => a.textContent === %q).href).then((r) => r.text()).then((t) => window.got = t), true`
	eval[bool](b, "("+fmt.Sprintf(get, "list")+")")
	b.until("window.got !== undefined")
	rows, err := csv.NewReader(strings.NewReader(eval[string](b, "window.got"))).ReadAll()
	if err != nil || len(rows) != 1+want || !slices.Contains(rows[0], "Waits for") || slices.Contains(rows[0], "") {
		t.Errorf("%d rows as CSV, %v: %q", len(rows), err, rows[:min(2, len(rows))])
	}
	eval[bool](b, "(delete window.got, "+fmt.Sprintf(get, "JSON")+")")
	b.until("window.got !== undefined")
	if got := eval[int](b, `JSON.parse(window.got).jobs.filter((j) => j.name.startsWith("run1")).length`); got != want {
		t.Errorf("%d jobs as JSON", got)
	}
	b.clean(l.url)
}
