//go:build real

package web_test

import (
	"context"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// medium makes the page look as on screen, or as on paper.
func medium(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name})
		return err
	})
}

// live is true while the page receives changes by a stream of events.
const live = `document.getElementById("status").dataset.state === "live"`

// sheet prints a page that has been live for two seconds, and checks the instant on the sheet.
func (b *tab) sheet(path string) {
	b.t.Helper()
	loaded := eval[string](b, `document.getElementById("as-of").dateTime`)
	b.until(live + ` && performance.now() - performance.getEntriesByType("navigation")[0].responseStart > 2100`)
	text := eval[string](b, `{ dispatchEvent(new Event("beforeprint")); document.querySelector(".printed").textContent }`)
	from, err := time.Parse(time.RFC3339, loaded)
	if err != nil {
		b.t.Fatal(err)
	}
	at, err := time.ParseInLocation("as of 2006-01-02 15:04:05 MST", text, time.Local)
	if err != nil || at.Sub(from) < time.Second || at.After(time.Now().Add(time.Second)) {
		b.t.Errorf("%s: the sheet is %q of a page of %s: %v", path, text, loaded, err)
	}
}

// TestRealPrint checks that the sheet has nothing to press or to tick, and that it shows the instant of its values,
// which is the present while the page is live.
func TestRealPrint(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	b := browse(t)
	for _, path := range []string{"/pool?pool=physics&with=biology", "/machines", "/queue", "/jobs/1"} {
		b.do(medium("screen"))
		b.open(l.url + path)
		if !eval[bool](b, `document.querySelector(".printed").offsetParent === null`) {
			t.Errorf("%s: what is for paper is on the screen", path)
		}
		b.do(medium("print"))
		if left := eval[int](b, `[...document.querySelectorAll("button, .button, input, select")].filter((n) => n.checkVisibility()).length`); left > 0 {
			t.Errorf("%s: %d things to press are on paper", path, left)
		}
		b.sheet(path)
	}
	b.clean(l.url)
}

// TestRealPrintOfASlowPage checks that the instant on the sheet is not too early if a script loads late, as on a busy
// machine.
func TestRealPrintOfASlowPage(t *testing.T) {
	l := newLab(t, cluster)
	example(l)
	to, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	slow := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		if strings.Contains(r.In.URL.Path, "live") {
			select {
			case <-r.In.Context().Done():
			case <-time.After(1900 * time.Millisecond):
			}
		}
		r.SetURL(to)
	}})
	t.Cleanup(slow.Close)
	b := browse(t)
	b.open(slow.URL + "/machines")
	b.sheet("/machines")
	b.do(chromedp.Navigate("about:blank")) // the page's stream would keep the proxy from ending
}
