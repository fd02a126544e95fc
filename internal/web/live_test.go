package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// counted is a hub whose page says how often it was rendered, and by which version.
type counted struct {
	*hub
	version, rendered atomic.Uint64
	cost              time.Duration
}

func newCounted() *counted {
	c := &counted{}
	c.hub = newHub(c.version.Load, func(context.Context, *Page, *Request) ([]part, error) {
		time.Sleep(c.cost) // in a bubble: it takes so long
		c.rendered.Add(1)
		return []part{{"same", "same"}, {"now", fmt.Sprint("version ", c.version.Load())}}, nil
	}, slog.New(slog.DiscardHandler))
	return c
}

// look opens a page of a user, and returns what came when ctx is over.
func (c *counted) look(ctx context.Context, user, version string) func() string {
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, "GET", "/queue?live="+version, nil)
	done := make(chan struct{})
	go func() {
		c.serve(w, r, &Page{Name: "queue"}, &Request{Here: "queue", You: api.Actor{User: user}})
		close(done)
	}()
	return func() string { <-done; return w.Body.String() }
}

// TestLiveIsShared: two hundred who look at one page cost what one does, at most one rendering a
// second, and those who left cost nothing.
func TestLiveIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		ctx, cancel := context.WithCancel(t.Context())
		var all []func() string
		for range 200 {
			all = append(all, c.look(ctx, "", ""))
		}
		for range 100 { // ten changes a second
			c.version.Add(1)
			time.Sleep(livePace / 10)
		}
		if n := c.rendered.Load(); n < 9 || n > 12 {
			t.Errorf("in ten seconds with a hundred changes it was rendered %d times", n)
		}
		cancel()
		for _, end := range all {
			text := end()
			if n := strings.Count(text, `"id":"same"`); n != 1 {
				t.Fatalf("what stays the same was sent %d times", n)
			}
			if n := strings.Count(text, `"id":"now"`); n < 9 || n > 12 {
				t.Fatalf("what changes was sent %d times", n)
			}
		}
		synctest.Wait()
		before := c.rendered.Load()
		c.version.Add(1)
		time.Sleep(time.Minute)
		if n := c.rendered.Load(); n != before {
			t.Errorf("nobody looks, and it was rendered %d times", n-before)
		}
		if len(c.views) != 0 {
			t.Errorf("%d views are left", len(c.views))
		}
	})
}

// TestLiveCostsItsPart: pages that take long are rendered less often, whatever happens.
func TestLiveCostsItsPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		c.cost = 100 * time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		var all []func() string
		for i := range 5 {
			all = append(all, c.look(ctx, fmt.Sprint("user", i), ""))
		}
		const minutes = 5
		for range minutes * 60 {
			c.version.Add(1)
			time.Sleep(time.Second)
		}
		if spent := time.Duration(c.rendered.Load()) * c.cost; spent > minutes*time.Minute/(livePart-2) {
			t.Errorf("%v of %d minutes went into it", spent, minutes)
		}
		cancel()
		for _, end := range all {
			end()
		}
		time.Sleep(time.Minute) // the last round ends
	})
}

// TestLiveSendsWhatDiffers: whoever has the page as it is gets nothing, until something changes.
func TestLiveSendsWhatDiffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		ctx, cancel := context.WithCancel(t.Context())
		end := c.look(ctx, "", version([]part{{"same", "same"}, {"now", "version 0"}}))
		time.Sleep(liveRest + time.Second)
		if c.rendered.Load() != 2 {
			t.Errorf("it was rendered %d times: at first, and because time goes on", c.rendered.Load())
		}
		cancel()
		if text := end(); strings.Contains(text, "event:") {
			t.Errorf("it had that already: %s", text)
		}
	})
}
