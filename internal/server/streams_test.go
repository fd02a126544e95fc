package server

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
)

// TestNowhere: for an unknown path, or a wrong method, browsers get a page and programs get a document; nobody gets a
// bare word.
func TestNowhere(t *testing.T) {
	d := newDesk(t)
	const browser, curl = "text/html,application/xhtml+xml", "*/*"
	for _, c := range []struct {
		method, path, accept string
		status               int
		allow, say           string
	}{
		{"GET", "/nothing", browser, 404, "", "there is no page"},
		{"GET", "/nothing", curl, 404, "", `"code":"not_found"`},
		{"POST", "/nothing", browser, 404, "", "there is no address"},
		{"POST", "/acts", curl, 404, "", `"code":"not_found"`},
		{"POST", "/queue", browser, 405, "GET", "does not accept POST; use GET"},
		{"POST", "/queue", curl, 405, "GET", "does not accept POST; use GET"},
		{"GET", "/act/now", browser, 404, "", "there is no page"},
		{"DELETE", "/v1/jobs", curl, 405, "GET, POST", "does not accept DELETE; use GET or POST"},
		{"DELETE", "/v1/jobs", browser, 405, "GET, POST", `"status":405`},
		{"POST", "/v1/jbos", browser, 404, "", `"code":"not_found"`},
		{"BREW", "/queue", curl, 405, "GET", "does not accept BREW"},
		{"PUT", "/assets/live.js", curl, 405, "GET", "does not accept PUT"},
		{"POST", "/healthz", curl, 405, "GET", "does not accept POST"},
	} {
		r := httptest.NewRequest(c.method, "http://localhost"+c.path, strings.NewReader("verb=cancel"))
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		d.handler.ServeHTTP(w, r.WithContext(context.WithValue(t.Context(), principalKey{}, root)))
		kind := "application/problem+json"
		if c.accept == browser && !strings.HasPrefix(c.path, "/v1/") {
			kind = "text/html; charset=utf-8"
		}
		if w.Code != c.status || w.Header().Get("Allow") != c.allow || w.Header().Get("Content-Type") != kind || !strings.Contains(w.Body.String(), c.say) {
			t.Errorf("%s %s for %s: status %d, allow %q, %s: %.300s", c.method, c.path, c.accept, w.Code, w.Header().Get("Allow"), w.Header().Get("Content-Type"), w.Body)
		}
	}
}

// follow requests the events as a principal, for a moment.
func (d *desk) follow(a access.Principal) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(context.WithValue(d.t.Context(), principalKey{}, a), 50*time.Millisecond)
	defer cancel()
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/v1/events", nil))
	return w
}

// TestStreamsAreBounded: if too many clients follow the events, the next one is told so, and when to try again. One
// user cannot take all places, and users cannot take the places of administrators.
func TestStreamsAreBounded(t *testing.T) {
	d := newDesk(t)
	refused := func(a access.Principal, say string) {
		t.Helper()
		held := d.services.events.streams.Held()
		if w := d.follow(a); w.Code != 503 || w.Header().Get("Retry-After") != "30" || !strings.Contains(w.Body.String(), `"code":"busy"`) || !strings.Contains(w.Body.String(), say) {
			t.Errorf("status %d, %v: %s", w.Code, w.Header(), w.Body)
		}
		if n := d.services.events.streams.Held(); n != held {
			t.Errorf("%d follow now, %d before", n, held)
		}
	}
	let := func(a access.Principal) {
		t.Helper()
		if w := d.follow(a); w.Code != 200 || !strings.Contains(w.Body.String(), "event: alive") {
			t.Errorf("the last place: status %d: %s", w.Code, w.Body)
		}
	}
	take := func(uid, n int, admin bool) {
		t.Helper()
		for range n {
			if err := d.services.events.streams.Take(uid, admin); err != nil {
				t.Fatal(err)
			}
		}
	}
	take(ann.UID, maxStreams/8-1, false)
	let(ann)
	take(ann.UID, 1, false)
	refused(ann, "250 programs follow the events, and this user has reached the limit")
	bob := access.Principal{Kind: access.User, Name: "bob", UID: 1001}
	let(bob)
	for uid := 2000; d.services.events.streams.Held() < maxStreams-maxStreams/8; uid++ {
		take(uid, maxStreams/8, false)
	}
	refused(bob, "the limit for all users together is reached")
	let(root)
	take(0, maxStreams/8, true)
	refused(root, "2000 programs follow the events, and the limit for all users together is reached")
}

// TestSlowFollower: a client that follows the events and does not read delays no submission, and is disconnected.
func TestSlowFollower(t *testing.T) {
	patience := sse.WriteTimeout
	sse.WriteTimeout = 200 * time.Millisecond
	t.Cleanup(func() { sse.WriteTimeout = patience })
	d := newDesk(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	small := func(ctx context.Context, c net.Conn) context.Context {
		c.(*net.TCPConn).SetWriteBuffer(4096)
		return ctx
	}
	s := &http.Server{ConnContext: small, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, root)))
	})}
	go s.Serve(l)
	defer s.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprint(c, "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if line, err := bufio.NewReaderSize(c, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q, %v", line, err)
	}
	jobs := 0
	for end := time.Now().Add(await.Patience); d.services.events.streams.Held() > 0; jobs++ {
		if time.Now().After(end) {
			t.Fatalf("after %d jobs it is still there", jobs)
		}
		d.submit(root, api.Spec{Argv: []string{"true"}, Name: strings.Repeat("x", 200), Kind: strings.Repeat("k", 200)})
	}
	t.Logf("let go after %d jobs", jobs)
}

// TestLongHeaders: the server itself refuses a request with absurdly long headers.
func TestLongHeaders(t *testing.T) {
	s, _ := newServer(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	defer func() { cancel(); <-ended }()
	for _, header := range []string{"X-Long: " + strings.Repeat("x", 1<<20), strings.Repeat("X-Many: 1\r\n", 20_000) + "X-Last: 1", "Cookie: " + strings.Repeat("a=b; ", 50_000)} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		go fmt.Fprintf(c, "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", header)
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, "431") {
			t.Errorf("%.20s...: %q, %v", header, line, err)
		}
		c.Close()
	}
}
