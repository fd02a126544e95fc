//go:build real

package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// point sends a pointer event to the first chart of the history, at a fraction of its width.
func point(b *tab, kind string, along float64) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const s = document.querySelector("#history .wide svg"), a = s.querySelector(".fl-area").dataset, m = s.getScreenCTM();
		const p = new DOMPoint(Number(a.left) + %v * (a.right - a.left), (Number(a.top) + Number(a.bottom)) / 2).matrixTransform(m);
		s.dispatchEvent(new PointerEvent(%q, { clientX: p.x, clientY: p.y, pointerId: 1, button: 0, bubbles: true })) }`, along, kind)))
}

// TestRealBrush checks that a drag selects a range, that all pictures show it and the address keeps it, that the cursor
// shows the values of all pictures, and that the range can be reset, also by the keyboard.
func TestRealBrush(t *testing.T) {
	l := newLab(t, cluster, pastDay)
	b := browse(t)
	b.open(l.url + "/pool?pool=physics&past=24&with=biology")
	span := func() (from, to float64) {
		t.Helper()
		b.until(`document.querySelector("#history .wide .fl-area") !== null`)
		x := eval[[]float64](b, `(() => { const d = document.querySelector("#history .wide .fl-area").dataset; return [Number(d.xFrom), Number(d.xTo)]; })()`)
		return x[0], x[1]
	}
	from, to := span()
	point(b, "pointermove", 0.5)
	b.until(`document.querySelectorAll("#history .wide .fl-note").length === 7 && [...document.querySelectorAll("#history .wide .fl-note")].some((n) => /share  60.0%/.test(n.textContent))`)
	point(b, "pointerdown", 0.75)
	point(b, "pointermove", 0.5)
	b.until(`document.querySelectorAll("#history .wide .fl-brush").length === 8`)
	point(b, "pointerup", 0.5)
	b.until(`new URLSearchParams(location.search).has("since") && document.querySelector("#history .moves .main")?.textContent === "Back to all"`)
	b.until(`(() => { const all = [...document.querySelectorAll("#history .wide .fl-area")].map((e) => e.dataset.xFrom); return all.length === 8 && new Set(all).size === 1; })()`)
	a, z := span()
	if near := func(got, want float64) bool { return got > want-3 && got < want+3 }; !near(a, from+0.5*(to-from)) ||
		!near(z, from+0.75*(to-from)) {
		t.Errorf("the range is %v to %v of %v to %v", a, z, from, to)
	}
	address := eval[string](b, "location.href")
	b.open(address) // the address alone shows the same range
	if again, _ := span(); again != a {
		t.Errorf("the address leads to %v", again)
	}
	eval[bool](b, `([...document.querySelectorAll("#history .moves a")].find((e) => e.textContent === "closer").focus(), true)`)
	b.do(chromedp.KeyEvent("\r"))
	b.until(fmt.Sprintf(`Number(document.querySelector("#history .wide .fl-area")?.dataset.xFrom) > %v + 60`, a))
	eval[bool](b, `(document.querySelector("#history .moves .main").click(), true)`)
	b.until(`!new URLSearchParams(location.search).has("since") && new URLSearchParams(location.search).get("with") === "biology"`)
	b.until(fmt.Sprintf(`Number(document.querySelector("#history .wide .fl-area")?.dataset.xFrom) < %v - 3600`, a))
	if a, z := span(); z-a < 23*3600 || z < float64(time.Now().Add(-time.Minute).Unix()) {
		t.Errorf("back is %v to %v", a, z)
	}
	point(b, "pointerdown", 0.5)
	point(b, "pointerup", 0.501)
	if now := eval[string](b, "location.search"); strings.Contains(now, "since") {
		t.Errorf("a click leads to %s", now)
	}
	b.clean(l.url)
}

// TestRealCompareAndPause compares with another pool by the field, and pauses and resumes the pool in the
// dialog.
func TestRealCompareAndPause(t *testing.T) {
	l := newLab(t, cluster, pastDay)
	example(l)
	b := browse(t)
	b.open(l.url + "/pool?pool=physics&past=24")
	eval[bool](b, `(document.querySelector("#versus input[name=with]").focus(), true)`)
	b.do(chromedp.KeyEvent("biology\r"))
	b.until(`new URLSearchParams(location.search).get("with") === "biology" && document.querySelectorAll("#history .wide svg").length === 8`)
	b.until(`document.querySelector("#versus td:last-child").textContent === "40"`)
	b.until(`document.getElementById("status").dataset.state === "live"`)
	agree := func(button, hit string) {
		t.Helper()
		b.until(fmt.Sprintf("[...document.querySelectorAll('#head [data-ask]')].some((e) => e.textContent === %q)", button))
		eval[bool](b, fmt.Sprintf("([...document.querySelectorAll('#head [data-ask]')].find((e) => e.textContent === %q).click(), true)", button))
		b.until(fmt.Sprintf("document.getElementById('ask').open && document.getElementById('ask').textContent.includes(%q)",
			hit))
		eval[bool](b, "(document.querySelector('#ask button.main').click(), true)")
		b.until("document.querySelector('#ask h1').textContent.includes('done')")
		b.do(chromedp.KeyEvent("\x1b"))
		b.until("!document.getElementById('ask').open")
	}
	agree("Pause", "physics/markov")
	b.until(`document.querySelector("#head .paused")?.textContent.includes("until it is resumed")`)
	b.until(`[...document.querySelectorAll("#versus th")].some((e) => e.textContent === "paused")`)
	if list, err := l.client.Pools.Pauses(t.Context()); err != nil || len(list.Pauses) != 1 ||
		list.Pauses[0].Pool != "physics" {
		t.Errorf("the pauses are %+v, %v", list, err)
	}
	agree("Resume", "start again in their turn")
	b.until(`document.querySelector("#head .paused") === null`)
	b.clean(l.url)
}
