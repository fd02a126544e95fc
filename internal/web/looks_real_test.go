//go:build real

package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
)

// slide moves a slider like a user.
func (b *tab) slide(selector, value string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("input", { bubbles: true })) }`, selector, value)))
}

// TestRealWeights moves a slider: the shares are the same as in a plan, the address keeps the weights, and
// they can be planned and applied.
func TestRealWeights(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	b.open(l.url + "/policy")
	b.do(press(`a[href$="policy/weights"]`))
	b.until(`document.title.startsWith("Weights") && document.querySelectorAll("#weigh input[type=range]").length === 2`)
	b.slide(`input[type=range][aria-label="weight of physics"]`, "10")
	b.until(`document.querySelector("tr[data-key=physics]").innerText.includes("20.0%")`)
	if got := eval[string](b, `document.querySelector("input[name='w.physics']").value + " " + location.search`); got != "10 ?w.physics=10" {
		t.Errorf("after the slider was moved the field and the address are %q", got)
	}
	plan, err := l.client.Config.Plan(t.Context(),
		api.ConfigPlanRequest{ConfigFile: api.ConfigFile{Text: strings.Replace(cluster, "weight: 60", "weight: 10", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, p := range plan.Pools {
		if p.Path == "biology" || p.Path == "physics" {
			want = append(want, p.ShareBefore, p.ShareAfter)
		}
	}
	if got := numbers(b, "#weigh td.nowrap data"); !slices.Equal(got, want) {
		t.Errorf("the shares are %v, those of the plan %v", got, want)
	}
	b.picture(t, "weights")
	address := eval[string](b, "location.href")
	b.do(chromedp.Navigate(address))
	b.until(`document.querySelector("input[name='w.physics']").value === "10" && document.body.innerText.includes("20.0%")`)
	b.do(press(`button[value=plan]`))
	b.until(`document.getElementById("planned")?.innerText.includes("pools.physics.weight")`)
	if w := l.weight("physics"); w != 60 {
		t.Errorf("to look has changed the weight to %v", w)
	}
	b.do(press(`#planned button`))
	b.until(`document.querySelector("h1")?.innerText.includes("The plan is applied")`)
	if w := l.weight("physics"); w != 10 {
		t.Errorf("the weight in force is %v", w)
	}
	b.do(chromedp.Navigate(l.url + "/policy/weights?w.physics=-3"))
	b.until(`document.querySelector(".problem:not([hidden])")?.innerText.includes("has to be a number")`)
	b.clean(l.url)
}

// TestRealFolds folds the queue by user: a line links to the jobs of its user, and the address keeps the folding and
// the filter.
func TestRealFolds(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	for i := range 3 {
		l.submit("markov", api.Spec{Name: fmt.Sprint("more", i), Pool: "physics/markov", Request: map[string]int64{"cpu": 2},
			LimitSeconds: 90000})
	}
	b := browse(t)
	b.open(l.url + "/queue")
	b.do(press(`.folds a[href*="fold=user"]`))
	b.until(`location.search === "?fold=user" && document.getElementById("status").dataset.state === "live"`)
	b.until(`document.querySelector("tr[data-key=f-markov]")?.innerText.includes("4 wait")`)
	if got := texts(b, "#list tbody th"); len(got) != 4 || !slices.Contains(got, "curie") {
		t.Errorf("the lines are %q", got)
	}
	for range 5 {
		b.do(chromedp.KeyEvent("j"))
		if eval[bool](b, `document.querySelector("tr[aria-selected=true]").dataset.key === "f-markov"`) {
			break
		}
	}
	b.do(chromedp.KeyEvent("\r"))
	b.until(`location.search === "?q=user%3Amarkov"`)
	b.until(`document.querySelectorAll("#list tbody tr[data-href]").length === 4`)
	b.clean(l.url)
}

// TestRealFirstMinutes checks that an empty server explains the first steps, and that an unknown address
// shows a page with links back.
func TestRealFirstMinutes(t *testing.T) {
	l := newLab(t, "policy: fair\n")
	b := browse(t)
	b.open(l.url + "/")
	b.until(`document.getElementById("begin").innerText.includes("fairlead work")`)
	l.node("n1", map[string]int64{"cpu": 4})
	b.until(`document.getElementById("begin").innerText.includes("4 cpu joined")`)
	id := l.submit("ann", api.Spec{Name: "first", Argv: []string{"true"}})
	l.until(id, "succeeded")
	b.until(`document.getElementById("begin").innerText === ""`)
	for _, page := range []string{"/queue", "/queue?fold=kind&list=held", "/machines", "/policy", "/policy/weights"} {
		b.open(l.url + page)
	}
	b.clean(l.url)
	b.do(chromedp.Navigate(l.url + "/no/such/page"))
	b.forget("404")
	b.until(`document.querySelector("h1").innerText === "Not found" && document.body.innerText.includes("/no/such/page")`)
	b.do(press(`main a[href$=queue]`))
	b.until(`location.pathname === "/queue"`)
	b.clean(l.url)
}

// TestRealPast checks that ended tasks are shown on their machine, that pools have charts of the last day, and that all
// pictures show their values at the instant under the pointer.
func TestRealPast(t *testing.T) {
	l := newLab(t, cluster, pastDay)
	l.node("n1", map[string]int64{"cpu": 16})
	id := l.submit("curie", api.Spec{Name: "short", Pool: "physics/curie", Argv: []string{"true"},
		Request: map[string]int64{"cpu": 2}})
	l.until(id, "succeeded")
	b := browse(t)
	b.open(l.url + "/machines")
	b.until(fmt.Sprintf(`[...document.querySelectorAll("#plan title")].some((t) => t.textContent.includes("job %d of curie") && t.textContent.includes("ended"))`, id))
	if tasks, err := l.client.Nodes.Tasks(t.Context(), []string{"n1"}, 0); err != nil || len(tasks.Tasks) != 0 {
		t.Errorf("%v run (%v)", tasks, err)
	}
	b.open(l.url + "/")
	b.until(`[...document.querySelectorAll("#pools title")].filter((t) => t.textContent.includes("in the last 24h: ran")).length === 6`)
	b.do(chromedp.Evaluate[chromedp.Void](`{ const s = document.querySelector("#history .wide svg"), r = s.getBoundingClientRect(); s.dispatchEvent(new PointerEvent("pointermove", { clientX: r.left + r.width / 2, clientY: r.top + r.height / 2, bubbles: true })) }`))
	b.until(`/entitled  [0-9]/.test(document.getElementById("value").textContent) && document.querySelectorAll("#history .wide .fl-cursor").length === 3`)
	b.clean(l.url)
}

// TestRealWidths checks that no cell of the page Now is cut off on a phone, that the bars grow on a wall screen, that
// all links to the pages are on the screen, and that from 1200 pixels on the tables fit and show the terms of the
// comparison.
func TestRealWidths(t *testing.T) {
	l := newLab(t, cluster, pastDay)
	example(l)
	b := browse(t)
	b.do(chromedp.EmulateViewport(390, 800))
	b.open(l.url + "/")
	cut := `[...document.querySelectorAll("#longest td, #longest th, #pools td, #pools th")].filter((e) => e.getClientRects().length && !e.closest("thead") && (e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > innerWidth)).map((e) => e.textContent)`
	if got := eval[[]string](b, cut); len(got) > 0 {
		t.Errorf("these are cut off: %q", got)
	}
	if got := eval[float64](b, `document.querySelector("#longest td.because").getBoundingClientRect().width`); got < 250 {
		t.Errorf("there are %v pixels for why a job waits", got)
	}
	const nav = `document.querySelector(".bar nav")`
	for _, width := range []int64{390, 800, 1024, 1200, 1280, 1440, 1480, 1536, 1680, 1920, 2560} {
		b.do(chromedp.EmulateViewport(width, 900))
		b.open(l.url + "/")
		if over := eval[int](b, nav+".scrollWidth - "+nav+".clientWidth"); over > 0 {
			t.Errorf("at %d pixels the links to the pages are %d too wide", width, over)
		}
		const over = `[...document.querySelectorAll(".scroll")].map((e) => e.scrollWidth - e.clientWidth)`
		for i, pixels := range eval[[]int](b, over) {
			if pixels > 0 && width >= 1200 {
				t.Errorf("at %d pixels table %d is %d too wide", width, i, pixels)
			}
		}
		const compared = `document.querySelector("#pools td.compared").getClientRects().length`
		if got := eval[int](b, compared); got == 0 && width >= 1200 {
			t.Errorf("at %d pixels nothing says by what pools are compared", width)
		}
	}
	b.do(chromedp.EmulateViewport(2560, 1440))
	b.open(l.url + "/?kiosk")
	if got := eval[float64](b, `document.querySelector("#pools td.pic svg").getBoundingClientRect().width`); got < 300 {
		t.Errorf("bars are %v pixels wide", got)
	}
	b.clean(l.url)
}
