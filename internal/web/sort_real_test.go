//go:build real

package web_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
)

// TestRealSort sorts the queue by a click on the head of a column, and reverses the order by a second click. A later
// job takes its place in that order, and the filter keeps the order.
func TestRealSort(t *testing.T) {
	l := newLab(t, cluster)
	var ids []int64
	for _, cpus := range []int64{4, 16, 2} {
		spec := api.Spec{Pool: "physics/curie", LimitSeconds: 3600, Request: map[string]int64{"cpu": cpus}}
		ids = append(ids, l.submit("ann", spec))
	}
	b := browse(t)
	b.open(l.url + "/queue")
	b.do(press(`#list thead a[href$="sort=size"]`))
	b.until(`document.querySelector("th[aria-sort=ascending]")?.innerText.startsWith("cpu")`)
	b.do(press(`#list thead a[href$="sort=-size"]`))
	b.until(`document.querySelector("th[aria-sort=descending]")?.innerText.startsWith("cpu")`)
	keys := func(want ...int64) {
		t.Helper()
		const shown = `"[" + [...document.querySelectorAll("#list tbody tr")].map((r) => r.dataset.key).join(" ") + "]"`
		b.until(fmt.Sprintf("%s === %q", shown, fmt.Sprint(want)))
	}
	keys(ids[1], ids[0], ids[2])
	b.until(`document.getElementById("status").dataset.state === "live"`)
	spec := api.Spec{Pool: "physics/curie", LimitSeconds: 3600, Request: map[string]int64{"cpu": 8}}
	later := l.submit("ann", spec)
	keys(ids[1], later, ids[0], ids[2])
	if got := texts(b, "th[aria-sort]"); !slices.Equal(got, []string{"cpu"}) {
		t.Errorf("the list is sorted by %q", got)
	}
	b.snap("sorted")
	b.do(chromedp.Focus("main input[name=q]"))
	b.do(chromedp.KeyEvent("user:ann\r"))
	b.until(`location.search === "?sort=-size&q=user%3Aann"`)
	keys(ids[1], later, ids[0], ids[2])
	b.clean(l.url)
}
