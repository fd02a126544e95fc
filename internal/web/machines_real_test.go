//go:build real

package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/golden"
)

// TestRealMachines drains a node in a browser, waits for the news on the page, and resumes the node.
func TestRealMachines(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	b.open(l.url + "/machines")
	b.until(`document.querySelector("#plan svg text") && document.body.innerText.includes("16 cpu until")`)
	b.picture(t, "machines")
	id := l.submit("curie", api.Spec{Name: "small", Pool: "physics/curie", Request: map[string]int64{"cpu": 2},
		LimitSeconds: 600})
	l.until(id, "running")
	b.until(fmt.Sprintf(`[...document.querySelectorAll("#plan title")].some((t) => t.textContent.includes("job %d of curie"))`, id))
	b.do(press("tr[data-key=n1] a[data-ask]"))
	b.until(`document.getElementById("ask").open && document.getElementById("ask").innerText.includes("markov")`)
	b.do(chromedp.SendKeys(`#ask input[name=reason]`, "fan is loud"), press(`#ask button.main`))
	b.until(`document.getElementById("ask").innerText.includes("takes no new tasks")`)
	b.do(press(`#ask [data-close]`))
	b.until(`document.querySelector("tr[data-key=n1]").innerText.includes("drain") && document.querySelector("tr[data-key=n1]").innerText.includes("fan is loud")`)
	if s := l.nodeState("n1"); s != "drain" {
		t.Errorf("the node is %s", s)
	}
	b.do(press("tr[data-key=n1] a[data-ask]"))
	b.until(`document.getElementById("ask").open && document.getElementById("ask").innerText.includes("take tasks again")`)
	b.do(press(`#ask button.main`))
	b.until(`document.querySelector("#ask h1").innerText === "n1 takes tasks again"`)
	if s := l.nodeState("n1"); s != "up" {
		t.Errorf("the node is %s", s)
	}
	b.do(press(`#ask [data-close]`), chromedp.KeyEvent("g"), chromedp.KeyEvent("o"))
	b.until(`document.title.startsWith("Policy")`)
	b.clean(l.url)
}

// TestRealPolicy edits a configuration in a browser: it is checked during typing, planned, applied and rolled
// back.
func TestRealPolicy(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	typed := func(text string) {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const t = document.getElementById("text"); t.value = %q; t.dispatchEvent(new Event("input", { bubbles: true })) }`, text)))
	}
	b.do(chromedp.Navigate(l.url + "/policy/edit"))
	typed(strings.Replace(cluster, "weight: 60", "weight: -60", 1))
	b.until(`document.getElementById("checked").innerText.includes("weight must be") && document.querySelector("#checked pre").textContent.includes("^")`)
	b.picture(t, "policy-error")
	typed(strings.Replace(cluster, "weight: 60", "weight: 20", 1))
	b.until(`document.getElementById("checked").innerText.toLowerCase().includes("no errors") && document.getElementById("checked").innerText.includes("pools.physics.weight")`)
	b.do(chromedp.Click(`button[value=plan]`))
	b.until(`document.getElementById("planned")?.innerText.includes("physics")`)
	b.picture(t, "policy-plan")
	b.do(chromedp.SendKeys(`#planned input[name=reason]`, "the vote"), chromedp.Click(`#planned button`))
	b.until(`document.querySelector("h1")?.innerText.includes("The plan is applied")`)
	if w := l.weight("physics"); w != 20 {
		t.Errorf("the weight in force is %v", w)
	}
	b.do(chromedp.Navigate(l.url + "/policy"))
	b.until(`document.body.innerText.includes("the vote")`)
	b.do(press("tr[data-key='v-1'] a[data-ask]"))
	b.until(`document.getElementById("ask").innerText.includes("Roll back to version 1?")`)
	b.do(press(`#ask button.main`))
	l.wait("the old weight is in force", func() bool { return l.weight("physics") == 60 })
	b.clean(l.url)
}

// press clicks an element as soon as it exists; the page may replace it at any moment.
func press(selector string) chromedp.Action[chromedp.Void] {
	script := fmt.Sprintf("((e) => { e?.click(); return !!e })(document.querySelector(%q))", selector)
	click := chromedp.Evaluate[bool](script)
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) (err error) {
		found := false
		if !await.Within(patience, func() bool {
			found, err = click(ctx, target)
			return found || err != nil
		}) {
			err = fmt.Errorf("there is no element %s to click", selector)
		}
		return err
	})
}

// picture takes a picture: for the documentation with -update, or into the directory FAIRLEAD_SHOTS if it is
// set.
func (b *tab) picture(t *testing.T, name string) {
	t.Helper()
	if *golden.Update {
		b.shot(filepath.Join("../../docs/how-to/dashboard", name+".png"), 1280, false)
	} else if dir := os.Getenv("FAIRLEAD_SHOTS"); dir != "" {
		b.shot(filepath.Join(dir, name+".png"), 1280, false)
	}
}
