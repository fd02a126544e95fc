//go:build real

package web_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// TestRealBulk checks that no button can be pressed without a tick, and that an action clears the ticks.
func TestRealBulk(t *testing.T) {
	l := newLab(t, cluster)
	first, second := l.submit("ann", api.Spec{Pool: "physics/curie"}), l.submit("ann", api.Spec{Pool: "physics/curie"})
	b := browse(t)
	b.open(l.url + "/queue")
	const pressable = "document.querySelectorAll('#bulk button:enabled').length"
	if n := eval[int](b, pressable); n != 0 {
		t.Errorf("%d buttons can be pressed, and nothing is ticked", n)
	}
	box := func(id int64) string { return fmt.Sprintf("document.getElementById('tick-%d')", id) }
	eval[bool](b, "("+box(first)+".click(), true)")
	if n := eval[int](b, pressable); n == 0 {
		t.Error("a job is ticked, and nothing can be pressed")
	}
	eval[bool](b, "("+box(second)+".click(), "+box(second)+".click(), true)")
	press := func(verb string) {
		t.Helper()
		eval[bool](b, fmt.Sprintf("(document.querySelector('#bulk button[value=%s]').click(), true)", verb))
		b.until("document.querySelector('#ask button.main')")
		text := eval[string](b, "document.getElementById('ask').textContent")
		if regexp.MustCompile(`\d running task`).MatchString(text) {
			t.Errorf("of what waits it says: %s", text)
		}
		eval[bool](b, "(document.querySelector('#ask button.main').click(), true)")
		b.until("document.querySelector('#ask h1').textContent.includes('done')")
		if n := eval[int](b, "document.querySelectorAll('#list input[name=job]:checked').length"); n != 0 {
			t.Errorf("%s leaves %d ticks", verb, n)
		}
		if n := eval[int](b, pressable); n != 0 {
			t.Errorf("%s leaves %d buttons that can be pressed", verb, n)
		}
		eval[bool](b, "(document.querySelector('#ask [data-close]').click(), true)")
	}
	b.until("!document.getElementById('ask').open")
	press("hold")
	b.until("!" + box(first)) // held jobs have a list of their own
	eval[bool](b, "(document.getElementById('tick-all').click(), true)")
	press("cancel")
	l.until(second, "cancelled")
	l.until(first, "held")
	b.clean(l.url)
}

// TestRealBulkOnAll selects all jobs of a page, then all that match, and holds them, including the jobs on other pages.
// It does so with and without the script.
func TestRealBulkOnAll(t *testing.T) {
	l := newLab(t, cluster)
	l.fill(250)
	b := browse(t)
	b.open(l.url + "/queue?q=user:ann")
	if !eval[bool](b, "document.getElementById('all').hidden") {
		t.Error("the jobs of other pages are offered, and nothing is ticked")
	}
	eval[bool](b, "(document.getElementById('tick-all').click(), true)")
	b.until("!document.getElementById('all').hidden")
	text := eval[string](b, "document.getElementById('all').innerText")
	if !strings.Contains(text, "select all 125 jobs that match") {
		t.Errorf("it says %s", text)
	}
	b.snap("bulk-offer")
	b.do(press("#tick-matching"), press("#bulk button[value=hold]"))
	b.until("document.querySelector('#ask button.main')")
	if text := eval[string](b, "document.getElementById('ask').innerText"); !strings.Contains(text, "Hold 125 jobs?") {
		t.Errorf("it asks: %s", text)
	}
	b.snap("bulk-question")
	eval[bool](b, "(document.querySelector('#ask button.main').click(), true)")
	b.until("document.querySelector('#ask h1').textContent.includes('Hold: done')")
	if n := l.in("ann", queue.Held); n != 125 || l.in("", queue.Held) != n {
		t.Errorf("%d jobs of ann are held, of 125", n)
	}
	if n := eval[int](b, "document.querySelectorAll('#list input:checked').length"); n != 0 {
		t.Errorf("%d ticks are left", n)
	}
	b.clean(l.url)
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(l.url+"/queue?list=held"))
	b.do(press("#tick-matching"), press("#bulk button[value=cancel]"))
	b.until("document.querySelector('h1').textContent.includes('Cancel 125 jobs?')")
	b.do(press("button.main"))
	b.until("document.querySelector('h1').textContent.includes('Cancel: done')")
	if n := l.in("ann", queue.Cancelled); n != 125 {
		t.Errorf("%d jobs are canceled, of 125", n)
	}
	b.snap("bulk-result")
}
