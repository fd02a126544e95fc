//go:build real

package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/internal/instant"
	"github.com/fairlead/fairlead/why"
)

// texts returns the texts of elements.
func texts(b *tab, selector string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.textContent.trim())", selector))
}

// numbers returns the exact values behind numbers on the page.
func numbers(b *tab, selector string) []float64 {
	b.t.Helper()
	var out []float64
	for _, text := range eval[[]string](b, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.value)", selector)) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			b.t.Fatalf("%s: %q is no number", selector, text)
		}
		out = append(out, v)
	}
	return out
}

// TestRealPagesSayWhatJSONSays checks that the numbers of each page equal those of the HTTP interface.
func TestRealPagesSayWhatJSONSays(t *testing.T) {
	l := newLab(t, cluster)
	jobs := example(l)
	b := browse(t)

	b.open(l.url + "/")
	shares, err := l.client.Pools.Shares(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, p := range shares.Pools[1:] {
		want = append(want, p.ShareHere, p.Running, float64(p.Waiting))
	}
	got := numbers(b, "#pools td[data-of=share] data, #pools td[data-of=runs] data, #pools td[data-of=waiting] data")
	if !slices.Equal(got, want) {
		t.Errorf("the pools are %v, want %v", got, want)
	}
	if got := numbers(b, "#tiles .tile:nth-child(2) .big data"); len(got) != 1 || got[0] != float64(shares.Summary.Waiting) {
		t.Errorf("%v wait, want %d", got, shares.Summary.Waiting)
	}

	var ids, reasons []string
	b.openBetween(l.url+"/queue", func() string {
		ids, reasons = nil, nil
		for _, j := range l.waiting() {
			ids, reasons = append(ids, fmt.Sprint(j.ID)), append(reasons, instant.ByClock(j.Reason.Text, time.Now()))
		}
		return strings.Join(reasons, "\n")
	})
	if got := texts(b, "#list tbody th"); !slices.Equal(got, ids) {
		t.Errorf("the queue is %v, want %v", got, ids)
	}
	if got := texts(b, "#list tbody td.because"); !slices.Equal(got, reasons) {
		t.Errorf("they wait for %q, want %q", got, reasons)
	}

	sameReasons(l, b, jobs["neutro3"])

	b.open(l.url + "/pool?pool=physics")
	for _, p := range shares.Pools {
		if got := numbers(b, "#head dd data"); p.Path == "physics" && (len(got) < 2 || got[0] != p.ShareHere) {
			t.Errorf("the share of physics is %v, want %v", got, p.ShareHere)
		}
	}
	b.open(l.url + "/pool?user=markov")
	if got := texts(b, "#members tbody th"); !slices.Equal(got, []string{"markov"}) {
		t.Errorf("the pools of markov are %q", got)
	}
	b.open(fmt.Sprint(l.url, "/jobs/", jobs["soil"], "/log"))
	b.until(`document.querySelector(".log")?.textContent === "soil begins\n"`)
	b.clean(l.url)
}

// sameReasons checks that the page of a waiting job gives the same reasons as why.
func sameReasons(l *lab, b *tab, id int64) {
	t := b.t
	t.Helper()
	var a *why.Answer
	b.openBetween(fmt.Sprint(l.url, "/jobs/", id), func() string {
		var err error
		a, err = l.client.Jobs.Why(t.Context(), id, explain.WhyOptions{Siblings: 6, Estimate: true})
		if err != nil {
			t.Fatal(err)
		}
		return instant.ByClock(a.Reason.Text, time.Now()) + a.Start.By.Format("15:04")
	})
	if got := texts(b, "#why .reason"); len(got) != 1 || got[0] != instant.ByClock(a.Reason.Text, time.Now()) {
		t.Errorf("it waits because %q, want %q", got, a.Reason.Text)
	}
	if got := texts(b, "#why .verdict"); len(got) != 1 || got[0] != string(a.Verdict) {
		t.Errorf("the verdict is %q, want %q", got, a.Verdict)
	}
	if got := numbers(b, "#start .rank data"); len(got) < 2 || got[0] != float64(a.Rank.Position) || got[1] != float64(a.Rank.Of) {
		t.Errorf("the rank is %v, want %+v", got, a.Rank)
	}
	if got := eval[string](b, "document.querySelector('#start .by time').dateTime"); a.Start.By == nil || !strings.HasPrefix(got, a.Start.By.Format("2006-01-02T15:04")) {
		t.Errorf("it starts by %s, want %v", got, a.Start.By)
	}
	if got := len(texts(b, "#gates li")); got != len(a.Gates) {
		t.Errorf("there are %d gates, want %d", got, len(a.Gates))
	}
}

// newcomers submits five jobs, and waits until each is on the page. It returns the last job, and the five delays,
// sorted. The page itself records when a row appears, by the clock of the events, so the delays exclude the time that
// the browser takes to report.
func newcomers(l *lab, b *tab) (id int64, took []time.Duration) {
	b.t.Helper()
	eval[bool](b, `(() => {
		window.came = {};
		new MutationObserver(() => {
			for (const row of document.querySelectorAll("#list tr[data-key]")) window.came[row.dataset.key] ??= performance.timeOrigin + performance.now();
		}).observe(document.getElementById("list"), {childList: true, subtree: true});
		return true;
	})()`)
	for range 5 {
		// With this limit the job would delay others, so it waits.
		id = l.submit("ann", api.Spec{Name: "newcomer", Pool: "physics/curie", LimitSeconds: 4 * 3600})
		h, err := l.client.Jobs.History(b.t.Context(), id, -1)
		if err != nil || len(h.Events) == 0 {
			b.t.Fatalf("job %d has no event: %v", id, err)
		}
		b.until(fmt.Sprintf("window.came[%d]", id))
		at := time.UnixMicro(int64(1000 * eval[float64](b, fmt.Sprintf("window.came[%d]", id))))
		took = append(took, at.Sub(h.Events[0].At))
	}
	slices.Sort(took)
	return id, took
}

// TestRealPageIsLive checks that changes reach the page, and that they keep the user's ticks, focus and
// selection.
func TestRealPageIsLive(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	b.open(l.url + "/queue")
	b.do(chromedp.Click(chromedp.CSS("tbody input[type=checkbox]")), chromedp.KeyEvent("jj"))
	first := eval[string](b, "document.querySelector('tr[aria-selected=true]').dataset.key")
	ticked := eval[string](b, "document.querySelector('input[name=job]:checked').value")
	b.typeInto("/", "user:jul")
	newcomers(l, b)
	if got := eval[string](b, "document.activeElement.name + ' ' + document.activeElement.value"); got != "q user:jul" {
		t.Errorf("the focus is on %q", got)
	}
	if got := eval[string](b, "document.querySelector('tr[aria-selected=true]').dataset.key"); got != first {
		t.Errorf("the row that was chosen is %s, was %s", got, first)
	}
	if got := eval[string](b, "document.querySelector('input[name=job]:checked').value"); got != ticked {
		t.Errorf("ticked is %s, was %s", got, ticked)
	}
	b.do(chromedp.KeyEvent("\x1b"), chromedp.KeyEvent("p"))
	if got := eval[string](b, "document.getElementById('status').dataset.state"); got != "paused" {
		t.Errorf("after p it is %s", got)
	}
	id := l.submit("ann", api.Spec{Name: "unseen", Pool: "physics/curie", LimitSeconds: 4 * 3600})
	b.do(chromedp.KeyEvent("p"))
	b.until(fmt.Sprintf(`document.querySelector('tr[data-key="%d"]') !== null`, id))
	b.clean(l.url)
}

// TestRealKeys presses the keys that the help lists.
func TestRealKeys(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	b.open(l.url + "/")
	b.do(chromedp.KeyEvent("?"))
	b.until("document.getElementById('help').open")
	b.do(chromedp.KeyEvent("\x1b"))
	b.until("!document.getElementById('help').open")
	b.do(chromedp.KeyEvent("t"))
	if got := eval[string](b, "document.documentElement.dataset.theme + ' ' + document.cookie"); got != "dark fairlead-theme=dark" {
		t.Errorf("after t: %s", got)
	}
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("q"))
	b.until("location.pathname === '/queue' && document.getElementById('status').dataset.state === 'live'")
	if got := eval[string](b, "document.documentElement.dataset.theme"); got != "dark" {
		t.Errorf("the next page is %s", got)
	}
	b.typeInto("/", "name:neutro3\r")
	b.until("location.search.includes('neutro3') && document.querySelectorAll('#list tbody tr[data-href]').length === 1 && document.getElementById('status').dataset.state === 'live'")
	b.do(chromedp.KeyEvent("j"))
	b.until("document.activeElement.matches('tr[aria-selected=true] a')")
	b.do(chromedp.KeyEvent("x"))
	b.until("document.querySelector('input[name=job]').checked && document.activeElement.matches('tr[aria-selected=true] input[name=job]')")
	b.do(chromedp.KeyEvent("a"))
	b.until("document.activeElement.matches('#bulk button') && document.activeElement.textContent === 'Hold'")
	b.do(chromedp.KeyEvent("k"), chromedp.KeyEvent("w"))
	b.until("location.pathname.startsWith('/jobs/') && document.querySelector('h1').textContent.includes('neutro3')")
	b.clean(l.url)
}

// TestRealWhatIf checks that a slider changes the estimated start, and that the address keeps the question.
func TestRealWhatIf(t *testing.T) {
	l := newLab(t, cluster)
	jobs := example(l)
	b := browse(t)
	b.open(fmt.Sprint(l.url, "/jobs/", jobs["neutro3"]))
	before := eval[string](b, "document.querySelector('#start .by time').dateTime")
	slide := `(() => { const s = document.getElementById("try-%s-slider"); s.value = s.dataset.stops.split(",").indexOf(%q); s.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`
	eval[bool](b, fmt.Sprintf(slide, "t", "1h"))
	b.until("document.getElementById('try-answer').textContent.includes('it would start now')")
	b.until("location.search === '?t=1h'")
	if got := eval[string](b, "document.getElementById('try-t').value"); got != "1h" {
		t.Errorf("the field beside the slider says %q", got)
	}
	limit := 3600.0
	w, err := l.client.Jobs.WhatIf(t.Context(), jobs["neutro3"], api.Variation{LimitSeconds: &limit})
	if err != nil || !w.After.Now || w.Before.Start.By.Format("2006-01-02T15:04") != before[:16] {
		t.Errorf("the interface says %+v, %v; the page said by %s", w, err, before)
	}
	eval[bool](b, fmt.Sprintf(slide, "t", "3h"))
	b.until("location.search === '' && !document.getElementById('try-answer').textContent.includes('it would start now')")
	b.open(fmt.Sprint(l.url, "/jobs/", jobs["neutro3"], "?t=3600&c=8"))
	b.until("document.getElementById('try-answer').textContent.includes('it would start now')")

	// A question about a canceled job gets a reason in place of the answer, and so does a question to a silent server.
	if _, text := l.post("/act", url.Values{"verb": {"cancel"}, "job": {fmt.Sprint(jobs["neutro3"])}}); !strings.Contains(text, "Cancel: done") {
		t.Fatal("the job is not canceled")
	}
	eval[bool](b, fmt.Sprintf(slide, "c", "4"))
	b.until("document.getElementById('try-answer').textContent.includes('is canceled by now') && !document.getElementById('try-answer').textContent.includes('would start')")
	b.clean(l.url)
	eval[bool](b, "(window.fetch = () => Promise.reject(new TypeError('nobody there')), true)")
	eval[bool](b, fmt.Sprintf(slide, "c", "8"))
	b.until("document.getElementById('try-answer').textContent.includes('The server does not answer (nobody there): retry')")
}

// TestRealActions checks that each action asks first, and is then carried out.
func TestRealActions(t *testing.T) {
	l := newLab(t, cluster)
	jobs := example(l)
	b := browse(t)
	state := func(name string) string {
		r, err := l.client.Jobs.Get(t.Context(), jobs[name])
		if err != nil {
			t.Fatal(err)
		}
		return r.Job.State
	}
	// press clicks the button of a verb on the page, and confirms in the dialog.
	press := func(button, hit string) {
		t.Helper()
		b.until(fmt.Sprintf("[...document.querySelectorAll('main [data-ask]')].some((e) => e.textContent === %q)", button))
		eval[bool](b, fmt.Sprintf("([...document.querySelectorAll('main [data-ask]')].find((e) => e.textContent === %q).click(), true)", button))
		b.until(fmt.Sprintf("document.getElementById('ask').open && document.getElementById('ask').textContent.includes(%q)", hit))
		eval[bool](b, "(document.querySelector('#ask button.main').click(), true)")
		b.until("/: (done|under way)$/.test(document.querySelector('#ask h1').textContent)")
		b.do(chromedp.KeyEvent("\x1b"))
		b.until("!document.getElementById('ask').open")
	}
	page := func(name string) { b.open(fmt.Sprint(l.url, "/jobs/", jobs[name])) }
	page("fit")
	press("Hold", "waits until it is released")
	if got := state("fit"); got != "held" {
		t.Errorf("it is %s", got)
	}
	press("Release", "waits for its turn again")
	if got := state("fit"); got != "waiting" {
		t.Errorf("it is %s", got)
	}
	page("soil")
	press("Requeue", "1 running task is stopped")
	l.wait("it runs again", func() bool {
		r, err := l.client.Jobs.Get(t.Context(), jobs["soil"])
		return err == nil && len(r.Tasks) == 1 && r.Tasks[0].Attempt == 2 || state("soil") == "waiting"
	})
	page("neutro3")
	press("Cancel", "never starts")
	if got := state("neutro3"); got != "cancelled" {
		t.Errorf("it is %s", got)
	}
	b.until("document.querySelector('#head .state').dataset.state === 'cancelled'")

	// Several jobs at once, from the queue.
	b.open(l.url + "/queue")
	eval[bool](b, "(document.getElementById('tick-all').click(), true)")
	n := eval[int](b, "document.querySelectorAll('input[name=job]:checked').length")
	press("Hold", fmt.Sprintf("Hold %d jobs?", n))
	b.until("document.querySelectorAll('#list tbody tr[data-href]').length === 0")

	b.open(l.url + "/pool?pool=physics")
	press("Boost", "weight")
	boosts, err := l.client.Pools.Boosts(t.Context())
	if err != nil || len(boosts.Boosts) != 1 || boosts.Boosts[0].Factor != 2 || boosts.Boosts[0].Pool != "physics" {
		t.Errorf("the boosts are %+v, %v", boosts, err)
	}
	press("End boost", "physics")
	if boosts, err = l.client.Pools.Boosts(t.Context()); err != nil || len(boosts.Boosts) != 0 {
		t.Errorf("the boosts are %+v, %v", boosts, err)
	}
	b.clean(l.url)
}

// TestRealHostile checks that hostile names and output have no effect, and that the content security policy
// would block their scripts.
func TestRealHostile(t *testing.T) {
	l := newLab(t, cluster)
	l.submit("eve", hostile)
	b := browse(t)
	for _, path := range everyPage {
		b.open(l.url + path)
		if got := eval[int](b, "document.querySelectorAll('main script, main img, main iframe, [onerror]').length"); got != 0 {
			t.Errorf("%s has %d elements that a name made", path, got)
		}
	}
	b.clean(l.url)
	ran := eval[bool](b, `(() => { const s = document.createElement("script"); s.textContent = "window.ran = true"; document.body.append(s); return window.ran === true; })()`)
	if ran {
		t.Error("the policy lets scripts run that stand in the page")
	}
	b.forget("Content Security Policy")
	b.clean(l.url)
}

// TestRealBehindPrefix checks that everything works behind a proxy that adds a path.
func TestRealBehindPrefix(t *testing.T) {
	l := newLab(t, cluster)
	jobs := example(l)
	target, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	front := httptest.NewServer(http.StripPrefix("/tools/fairlead", proxy))
	t.Cleanup(front.Close)
	base := front.URL + "/tools/fairlead"
	b := browse(t)
	b.open(base + "/")
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("q"))
	b.until("location.pathname === '/tools/fairlead/queue' && document.getElementById('status').dataset.state === 'live'")
	b.do(chromedp.KeyEvent("j"), chromedp.KeyEvent("\r"))
	b.until("location.pathname.startsWith('/tools/fairlead/jobs/') && document.getElementById('status').dataset.state === 'live'")
	eval[bool](b, "([...document.querySelectorAll('[data-ask]')].find((e) => e.textContent === 'Hold').click(), true)")
	b.until("document.getElementById('ask').open")
	eval[bool](b, "(document.querySelector('#ask button.main').click(), true)")
	b.until("document.querySelector('#head .state').dataset.state === 'held'")
	if len(jobs) == 0 {
		t.Error("there are no jobs")
	}
	b.clean(front.URL)
	b.do(chromedp.Navigate("about:blank")) // closes the connection to the proxy
}
