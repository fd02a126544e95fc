//go:build real

package web_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
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
