//go:build real

package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
)

// TestRealHealth loses a node while a page is open, and gets it back: the open page shows the loss without a reload,
// and then nothing.
func TestRealHealth(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	b.open(l.url + "/")
	b.until(`document.getElementById("troubles").innerText.trim() === ""`)
	l.lose("n9")
	b.until(`document.querySelector("#troubles [data-check='lost nodes']")?.innerText.includes("n9")`)
	b.picture(t, "health")
	b.clean(l.url)
	l.node("n9", map[string]int64{"cpu": 1})
	b.until(`document.getElementById("troubles").innerText.trim() === ""`)
	b.clean(l.url)
}

// TestRealHealthOnAPhone: at the width of a phone all text about several problems is on the screen, and the page begins
// below it on the same screen.
func TestRealHealthOnAPhone(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	for range 3 {
		l.submit("curie", api.Spec{Request: map[string]int64{"cpu": 90}})
	}
	for i := range 7 {
		l.lose(fmt.Sprintf("compute-rack%02d-gpu.cluster.example.org", i))
	}
	b := browse(t)
	b.do(chromedp.EmulateViewport(390, 844))
	for _, path := range []string{"/", "/queue", "/machines"} {
		b.open(l.url + path)
		b.until(`document.querySelector("#troubles [data-check='lost nodes']")?.innerText.includes("3 waiting jobs")`)
		b.snap("health-phone-" + strings.Trim(path, "/"))
		b.do(chromedp.EmulateViewport(390, 844))
		if over := eval[string](b, overflows("#troubles p, #troubles p *")); over != "" {
			b.t.Errorf("%s cuts off %s", path, over)
		}
		if bottom := eval[float64](b, `document.getElementById("troubles").getBoundingClientRect().bottom`); bottom > 422 {
			b.t.Errorf("%s begins at %.0f pixels of 844", path, bottom)
		}
	}
	l.stop()
	defer l.begin()
	b.until(`/disconnected, retrying \(data of \d\d:\d\d:\d\d\)/.test(document.getElementById("status").innerText)`)
	b.snap("health-away")
	b.do(chromedp.EmulateViewport(390, 844))
	if over := eval[string](b, overflows("#status, #status *")); over != "" {
		b.t.Errorf("the state of the connection cuts off %s", over)
	}
}

// overflows is an expression for the text of the first of the matching elements that is not entirely on the screen.
func overflows(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => {
		const at = e.getBoundingClientRect();
		const cut = e.scrollWidth > e.clientWidth && getComputedStyle(e).display !== "inline";
		return at.left < 0 || at.right > innerWidth || cut;
	})?.innerText ?? ""`, selector)
}
