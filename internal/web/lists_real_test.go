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

// TestRealLists goes through the lists of a day's work: running jobs, with node and remaining time; failed jobs by
// cause, with their error; the end of the output of a failed job; the page of a machine; and the search in the head of
// each page.
func TestRealLists(t *testing.T) {
	l := newLab(t, cluster)
	l.node("n1", map[string]int64{"cpu": 8, "mem": 64 << 30})
	sh := func(user, pool, name, script string) int64 {
		return l.submit(user, api.Spec{Name: name, Pool: pool, LimitSeconds: 7200, Argv: []string{"sh", "-c", script}})
	}
	runs := sh("ann", "physics/curie", "long", "exec sleep 600")
	ok := sh("bob", "biology/env", "good", "echo fine")
	exit3 := sh("bob", "biology/env", "bad", "for i in $(seq 30); do echo line $i; done; echo no such file >&2; exit 3")
	again := sh("ann", "physics/markov", "bad2", "exit 3")
	killed := sh("ann", "physics/markov", "killed", "kill -9 $$")
	l.until(runs, "running")
	l.until(ok, "succeeded")
	for _, id := range []int64{exit3, again, killed} {
		l.until(id, "failed")
	}
	b := browse(t)

	b.open(l.url + "/queue?list=running")
	if got := texts(b, `#list td[data-of="node"] a`); !slices.Equal(got, []string{"n1"}) {
		t.Errorf("it runs on %q", got)
	}
	if left := numbers(b, `#list td[data-of="time left"] data`); len(left) != 1 || left[0] > 7200 || left[0] < 7000 {
		t.Errorf("%v seconds are left", left)
	}
	b.looks("list-running")

	b.open(l.url + "/queue?list=failed")
	if got := texts(b, "#list tbody th[scope=row]"); !slices.Equal(got, []string{"SIGKILL", "exit 3"}) {
		t.Errorf("the causes are %q", got)
	}
	if got := numbers(b, `#list td[data-of="jobs"] data`); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("they have %v jobs", got)
	}
	b.looks("list-causes")
	b.do(chromedp.Click(`#list tr[data-key="f-exit 3"] th a`))
	b.until(`document.querySelectorAll('#list td[data-of="how"]').length === 2`)
	if got := texts(b, `#list td[data-of="how"] b`); !slices.Equal(got, []string{"3", "3"}) {
		t.Errorf("they ended with %q", got)
	}
	b.looks("list-failed")

	b.open(fmt.Sprint(l.url, "/jobs/", exit3))
	tail := strings.Join(texts(b, "#output pre"), "")
	if !strings.Contains(tail, "line 30\nno such file") || strings.Contains(tail, "line 9\n") {
		t.Errorf("the end of the output is %q", tail)
	}
	b.looks("job-failed")
	b.do(chromedp.Click(`#output a[href*="nodes/n1"]`))
	b.until(`document.querySelector("h1")?.textContent === "n1"`)
	if got := texts(b, "#running h2, #ended h2"); !slices.Equal(got,
		[]string{"Running: 1 task", "Ended in the last day: 3 tasks failed"}) {
		t.Errorf("the machine says %q", got)
	}
	if got := texts(b, "#has tbody tr"); len(got) != 2 || !strings.HasPrefix(got[0], "cpu") {
		t.Errorf("its resources are %q", got)
	}
	b.looks("node")

	findsAll(b, l.url, runs)
	b.clean(l.url)
}

// findsAll types names of all kinds into the search in the head of a page.
func findsAll(b *tab, url string, job int64) {
	b.t.Helper()
	for text, want := range map[string]string{
		fmt.Sprint(job): fmt.Sprint("/jobs/", job), "n1": "/nodes/n1",
		"physics/markov": "/pool?pool=physics%2Fmarkov",
		"bob":            "/queue?list=all&q=user%3Abob", "bad": "/queue?list=all&q=bad", "999": "/queue?list=all&q=999",
	} {
		b.open(url + "/policy")
		b.do(chromedp.Focus(".find input"))
		b.do(chromedp.KeyEvent(text + "\r"))
		b.until(fmt.Sprintf("location.pathname + location.search === %q", want))
	}
}
