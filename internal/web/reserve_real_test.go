//go:build real

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestRealReserve ticks machines in a browser, sees the tasks in the way, reserves the machines, and ends the
// reservation.
func TestRealReserve(t *testing.T) {
	l := newLab(t, cluster)
	jobs := example(l)
	b := browse(t)
	b.open(l.url + "/machines")
	b.until(`document.getElementById("reserved").getClientRects().length === 0`)
	b.do(press("#tick-n1"), press("#tick-n4"), press("#bulk button"))
	b.until(`document.getElementById("ask").open && document.querySelector("#ask input[name=nodes]").value === "n1, n4"`)
	fill := func(name, text string) chromedp.Action[chromedp.Void] {
		return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("#ask form[method=get] input[name=%s]").value = %q`, name, text))
	}
	b.do(fill("name", "course"), fill("start", "sometime"), fill("for", "3h"), fill("pools", "biology"),
		fill("reason", "the exam"), press("#ask button[data-ask]"))
	b.until(`document.querySelector("#ask .problem")?.innerText.includes("sometime")`)
	b.do(fill("start", "30m"), press("#ask button[data-ask]"))
	b.until(`document.getElementById("plan-of")?.innerText.startsWith("2 machines, n1, n4, from")`)
	if got := texts(b, "#overruns tbody th"); len(got) != 1 || got[0] != fmt.Sprint(jobs["neutro2"]) {
		t.Errorf("in the way is %q, want job %d", got, jobs["neutro2"])
	}
	if n := eval[int](b, `document.querySelectorAll("#kept tbody tr").length`); n == 0 {
		t.Error("no planned work is in the way")
	}
	if all := l.loop.Overrides.Reservations(); len(all) != 0 {
		t.Errorf("to ask has made %+v", all)
	}
	b.looks("reserve")
	b.do(press("#ask button.main"))
	b.until(`document.querySelector("#ask h1").innerText === "course: reserved for pool biology"`)
	if all := l.loop.Overrides.Reservations(); len(all) != 1 || all[0].Reason != "the exam" || len(all[0].Nodes) != 2 {
		t.Errorf("it made %+v", all)
	}
	b.do(press("#ask [data-close]"))
	b.until(`document.getElementById("reserved").innerText.includes("the exam") && [...document.querySelectorAll("#plan .wide title")].some((t) => t.textContent.startsWith("reserved: course"))`)
	b.looks("reserved")
	b.do(press(`#reserved a[data-ask]`))
	b.until(`document.querySelector("#ask h1")?.innerText === "End course?"`)
	b.do(press("#ask button.main"))
	b.until(`document.querySelector("#ask h1")?.innerText === "course has ended"`)
	b.do(press("#ask [data-close]"))
	b.until(`document.getElementById("reserved").getClientRects().length === 0`)
	b.clean(l.url)
}
