// Package browsertest opens pages in a real browser. All tests of a process share one browser, Chromium or
// Google Chrome without a screen, which starts when the first test needs it.
package browsertest

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead/fairlead/internal/daemon"
)

var shared struct {
	once sync.Once
	ctx  context.Context // the browser runs until this context ends
	err  error
}

// Close ends the browser, if one runs. TestMain calls it.
func Close() {
	if shared.ctx != nil {
		chromedp.Cancel(shared.ctx)
	}
}

// Tab opens a tab, which shares no cookies with other tabs and closes with the test. Without a browser it
// skips the test.
func Tab(t testing.TB) context.Context {
	t.Helper()
	program := find()
	if program == "" {
		daemon.Skip(t, "there is no browser here: chromium or google-chrome in the path")
	}
	shared.once.Do(func() { shared.ctx, shared.err = start(program) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	ctx, closeTab := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil { // the tab stays open until this context ends
		t.Fatal(err)
	}
	return ctx
}

// find returns the path of a browser, or "".
func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// start starts a browser, and starts it again if it crashed before it answered. Chromium sometimes crashes on
// a busy machine, and this says nothing about the pages.
func start(program string) (context.Context, error) {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		allocator, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("disable-gpu", true),
			chromedp.Flag("hide-scrollbars", true))...)
		ctx, cancel := chromedp.NewContext(allocator)
		err := chromedp.Do(ctx)
		if err == nil {
			return ctx, nil
		}
		cancel()
		stop()
		if attempt == attempts {
			return nil, fmt.Errorf("the browser did not start %d times: %w", attempts, err)
		}
	}
}
