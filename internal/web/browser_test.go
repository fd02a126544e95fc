//go:build real

package web_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/browsertest"
)

// tab is a page in a real browser. It records the complaints of the browser and the hosts that the browser
// asks.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	hosts      map[string]bool
}

func TestMain(m *testing.M) {
	status := m.Run()
	browsertest.Close()
	os.Exit(status)
}

// browse opens a tab of a headless browser, which shares no cookies with other tabs.
func browse(t *testing.T) *tab {
	t.Helper()
	b := &tab{t: t, ctx: browsertest.Tab(t), hosts: map[string]bool{}}
	b.do(chromedp.EmulateViewport(1280, 800))
	if err := chromedp.Listen(b.ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

// hear records the events of the browser.
func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			b.complaints = append(b.complaints, "console: "+string(e.Type))
		}
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, string(e.Entry.Level)+": "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" {
			b.hosts[u.Host] = true
		}
	}
}

// clean fails if the browser complained, or asked a host other than the server.
func (b *tab) clean(server string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the browser says: %s", c)
	}
	for h := range b.hosts {
		if h != strings.TrimPrefix(server, "http://") {
			b.t.Errorf("the browser asked %s", h)
		}
	}
	b.complaints = nil
}

// forget drops expected complaints, and fails if there is none.
func (b *tab) forget(about string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.complaints)
	b.complaints = slices.DeleteFunc(b.complaints, func(c string) bool { return strings.Contains(c, about) })
	if len(b.complaints) == n {
		b.t.Errorf("the browser does not complain about %s", about)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns the value of an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true in the current page and that page is complete. While one page
// replaces another, the browser cannot evaluate the expression, or only on half of a page.
func (b *tab) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	var err error
	if !await.Within(patience, func() bool {
		var yes bool
		yes, err = chromedp.Run(ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!(`+expression+")"))
		return err == nil && yes
	}) {
		b.t.Fatalf("this does not come: %s: %v\n%s", expression, err, eval[string](b, "document.body.innerText"))
	}
}

// typeInto presses a key that moves the focus into a field, and types there. The browser's protocol also
// sends the letter of the key, which a keyboard does not.
func (b *tab) typeInto(key, text string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(key))
	eval[bool](b, "(document.activeElement.select(), true)")
	b.do(chromedp.KeyEvent(text))
}

// open opens an address and waits until the page is live.
func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.until(`!document.body.dataset.live || document.getElementById("status").dataset.state === "live"`)
}

// openBetween opens a page between two equal answers of the interface. Texts name minutes, and the minute may change
// between the page and an answer; then it opens the page again.
func (b *tab) openBetween(address string, answer func() string) {
	b.t.Helper()
	for before := answer(); ; {
		b.open(address)
		after := answer()
		if after == before {
			return
		}
		before = after
	}
}

// shot takes a picture of the whole page.
func (b *tab) shot(path string, width int64, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.do(chromedp.EmulateViewport(width, 800), media(scheme))
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// snap takes a picture for a human reader, if FAIRLEAD_SHOTS names a directory.
func (b *tab) snap(name string) {
	b.t.Helper()
	if dir := os.Getenv("FAIRLEAD_SHOTS"); dir != "" {
		b.shot(filepath.Join(dir, name+".png"), 1280, false)
		b.shot(filepath.Join(dir, name+"-phone.png"), 390, false)
	}
}

// media makes the browser prefer light or dark.
func media(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}
