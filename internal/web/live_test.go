package web

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// counted is a hub whose page shows its version; it counts the renderings.
type counted struct {
	*hub
	version, rendered atomic.Uint64
	cost              time.Duration
}

func newCounted() *counted {
	c := &counted{}
	c.hub = newHub(c.version.Load, func(context.Context, *Page, *Request) ([]part, error) {
		time.Sleep(c.cost) // the duration of a rendering, in the time of the bubble
		c.rendered.Add(1)
		return []part{{"same", "same"}, {"now", fmt.Sprint("version ", c.version.Load())}}, nil
	}, slog.New(slog.DiscardHandler))
	return c
}

// look opens a page of a user. The returned function waits for the end of ctx and returns the text that was
// sent.
func (c *counted) look(ctx context.Context, user, version string) func() string {
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, "GET", "/queue?live="+version, nil)
	done := make(chan struct{})
	go func() {
		c.serve(w, r, &Page{Name: "queue"}, &Request{Here: "queue", You: You{Actor: api.Actor{User: user}}},
			api.Actor{User: user, Admin: true})
		close(done)
	}()
	return func() string { <-done; return w.Body.String() }
}

// TestLiveIsShared checks that two hundred connections to one page cost the same as one, at most one
// rendering a second, and that closed connections cost nothing.
func TestLiveIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		ctx, cancel := context.WithCancel(t.Context())
		var all []func() string
		for range 200 {
			all = append(all, c.look(ctx, "", ""))
		}
		for range 100 { // ten changes per second
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

// TestLiveCostsItsPart checks that slow pages are rendered less often, whatever the number of changes.
func TestLiveCostsItsPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		c.cost = 100 * time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		var all []func() string
		const views, minutes = 5, 5
		for i := range views {
			all = append(all, c.look(ctx, fmt.Sprint("user", i), ""))
		}
		for range minutes * 60 {
			c.version.Add(1)
			time.Sleep(time.Second)
		}
		// The first rounds end before all connections are counted.
		if spent := time.Duration(c.rendered.Load()) * c.cost; spent > minutes*time.Minute/livePart+2*views*c.cost {
			t.Errorf("%v of %d minutes went into it", spent, minutes)
		}
		cancel()
		for _, end := range all {
			end()
		}
		time.Sleep(time.Minute) // for the last round to end
	})
}

// TestLiveSendsWhatDiffers checks that a browser with the current version of the page gets nothing until a
// change.
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

// TestLiveIsBounded checks that one page too many is refused with a time to try again, and is served when a connection
// is free.
func TestLiveIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		ctx, cancel := context.WithCancel(t.Context())
		var all []func() string
		for range maxLive - 1 {
			all = append(all, c.look(ctx, "", ""))
		}
		last, leave := context.WithCancel(t.Context())
		left := c.look(last, "", "")
		synctest.Wait()
		w := httptest.NewRecorder()
		c.serve(w, httptest.NewRequestWithContext(ctx, "GET", "/queue?live=", nil), &Page{Name: "queue"},
			&Request{Here: "queue"}, api.Actor{Admin: true})
		if w.Code != 503 || w.Header().Get("Retry-After") != "30" || !strings.Contains(w.Body.String(), `"code":"busy"`) ||
			!strings.Contains(w.Body.String(), "2000 pages are open") {
			t.Errorf("status %d, %v: %s", w.Code, w.Header(), w.Body)
		}
		leave()
		left()
		again := c.look(ctx, "", "")
		time.Sleep(2 * livePace)
		cancel()
		if text := again(); !strings.Contains(text, `"id":"now"`) {
			t.Errorf("there was room again, and it was told %q", text)
		}
		for _, end := range all {
			end()
		}
		time.Sleep(time.Minute)
		if c.many != 0 || len(c.views) != 0 {
			t.Errorf("%d look at %d views at the end", c.many, len(c.views))
		}
	})
}

// TestLiveIsDivided checks that one user cannot take all connections.
func TestLiveIsDivided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		served := func(you api.Actor) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			all.Go(func() {
				c.serve(w, httptest.NewRequestWithContext(ctx, "GET", "/queue?live=", nil), &Page{Name: "queue"},
					&Request{Here: "queue"}, you)
			})
			return w
		}
		ann, bob := api.Actor{User: "ann", UID: 1000}, api.Actor{User: "bob", UID: 1001}
		for range maxLive / 8 {
			served(ann)
		}
		synctest.Wait()
		refused, other := served(ann), served(bob)
		synctest.Wait()
		if refused.Code != 503 || !strings.Contains(refused.Body.String(), "has reached the limit for one user") {
			t.Errorf("one page too many of one user: status %d: %s", refused.Code, refused.Body)
		}
		cancel()
		all.Wait()
		if other.Code != 200 || !strings.Contains(other.Body.String(), "hello") {
			t.Errorf("another user: status %d: %s", other.Code, other.Body)
		}
		time.Sleep(time.Minute)
	})
}

// pipes is a listener in memory: a bubble cannot wait for sockets of the kernel.
type pipes struct {
	made chan net.Conn
	done chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// dial connects, asks for a page, and reads the head of the answer.
func (p pipes) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	mine, theirs := net.Pipe()
	p.made <- theirs
	fmt.Fprint(mine, "GET /queue?live= HTTP/1.1\r\nHost: localhost\r\n\r\n")
	in := bufio.NewReader(mine)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "hello") {
			return mine, in
		}
	}
}

// TestLiveSlowReader checks that a client that does not read is disconnected after ten seconds; meanwhile
// other clients get all changes, and no data pile up for the slow one.
func TestLiveSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounted()
		all := pipes{make(chan net.Conn), make(chan struct{})}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.serve(w, r, &Page{Name: "queue"}, &Request{Here: "queue"}, api.Actor{})
		})}
		go s.Serve(all)
		slow, _ := all.dial(t)
		quick, in := all.dial(t)
		var seen atomic.Uint64
		go func() {
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if strings.Contains(line, `"id":"now"`) {
					seen.Add(1)
				}
			}
		}()
		for range 9 {
			c.version.Add(1)
			time.Sleep(time.Second)
		}
		c.mu.Lock()
		many := c.many
		c.mu.Unlock()
		if n := seen.Load(); many != 2 || n < 8 {
			t.Errorf("%d look; the one who reads saw %d of 9 changes", many, n)
		}
		time.Sleep(5 * time.Second)
		c.mu.Lock()
		if c.many != 1 || len(c.views) != 1 {
			t.Errorf("%d look at %d views: who does not read is still there", c.many, len(c.views))
		}
		c.mu.Unlock()
		quick.Close()
		slow.Close()
		s.Close()
		time.Sleep(time.Minute)
	})
}
