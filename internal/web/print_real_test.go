//go:build real

package web_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// medium makes the page look as on a screen, or on paper.
func medium(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name})
		return err
	})
}

// TestRealPrint: on paper there is nothing to press or to tick, and the sheet says of when it is: of now, while the
// page is live.
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
		loaded := eval[string](b, `document.getElementById("as-of").dateTime`)
		b.until(`performance.now() > 2100`)
		b.do(medium("print"))
		if left := eval[int](b, `[...document.querySelectorAll("button, .button, input, select")].filter((n) => n.checkVisibility()).length`); left > 0 {
			t.Errorf("%s: %d things to press are on paper", path, left)
		}
		text := eval[string](b, `{ dispatchEvent(new Event("beforeprint")); document.querySelector(".printed").innerText }`)
		from, err := time.Parse(time.RFC3339, loaded)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.ParseInLocation("as of 2006-01-02 15:04:05 MST", text, time.Local)
		if err != nil || at.Sub(from) < time.Second || at.After(time.Now().Add(time.Second)) {
			t.Errorf("%s: the sheet is %q of a page of %s: %v", path, text, loaded, err)
		}
	}
	b.clean(l.url)
}
