package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/quota"
)

// TestLimitsFit: the limits divide the number of files that may be open, however small it is, and reserve a part of it
// for administrators.
func TestLimitsFit(t *testing.T) {
	for _, files := range []int{64, 256, 1024, 20_000, 1 << 20} {
		l := limitsFor(files)
		if l.All >= files || l.All < files/4 || l.Reserved < l.All/5 || l.User < 1 || l.Anonymous < 1 || l.User+l.Anonymous > l.All-l.Reserved || l.User > 512 {
			t.Errorf("of %d files: %+v", files, l)
		}
	}
}

// pair returns the two ends of a connection in memory; the server has the second.
func pair(t *testing.T, g *gate) (mine net.Conn, in *conn) {
	t.Helper()
	mine, theirs := net.Pipe()
	in, err := g.enter(theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return mine, in
}

// userOf returns a user as an authenticator would name the user.
func userOf(uid int) *access.Principal {
	return &access.Principal{Kind: access.User, Name: numbered(uid), UID: uid}
}

// gone reports whether the other end was closed.
func gone(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return err == io.EOF
}

// TestAnonymousGiveWay: however many connections without a session somebody holds, the next one is accepted.
// Connections that have shown a session stay, and count as connections of the user.
func TestAnonymousGiveWay(t *testing.T) {
	g := newGate(connectionLimits{All: 100, Reserved: 20, User: 2, Anonymous: 3}, func(int, error) {})
	first, in := pair(t, g)
	if err := in.claim(userOf(1000)); err != nil {
		t.Fatal(err)
	}
	var held []net.Conn
	for range 5 {
		c, _ := pair(t, g)
		held = append(held, c)
	}
	if gone(first) || !gone(held[0]) || !gone(held[1]) || gone(held[2]) || gone(held[4]) {
		t.Error("the wrong connections were closed")
	}
	_, second := pair(t, g)
	_, third := pair(t, g)
	if err := second.claim(userOf(1000)); err != nil {
		t.Error(err)
	}
	if err := third.claim(userOf(1000)); err != quota.ErrUser {
		t.Errorf("one more than a user may have: %v", err)
	}
	if err := third.claim(userOf(1001)); err != nil {
		t.Errorf("another user: %v", err)
	}
	in.Close()
	in.Close() // closed twice, as net/http may do
	_, fourth := pair(t, g)
	if err := fourth.claim(userOf(1000)); err != nil || g.known.Held() != 3 {
		t.Errorf("a place that was given back: %v; %d are held", err, g.known.Held())
	}
}

// serving starts a server on a socket and on an address, and returns both.
func (d *desk) serving() (path, address string) {
	d.t.Helper()
	path = filepath.Join(d.t.TempDir(), "s")
	unix, err := net.Listen("unix", path)
	if err != nil {
		d.t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(d.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(ctx, unix, tcp) }()
	d.t.Cleanup(func() { cancel(); <-ended })
	return path, tcp.Addr().String()
}

// line requests a path and returns the first line of the answer.
func line(t *testing.T, c net.Conn, path string) string {
	t.Helper()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	c.SetReadDeadline(time.Now().Add(time.Minute))
	text, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return text
}

// TestOneTooManyIsRefused: a refused connection gets an answer that gives the reason, and its place is free when
// another connection ends.
func TestOneTooManyIsRefused(t *testing.T) {
	d := newDesk(t)
	d.gate = newGate(connectionLimits{All: 3, Reserved: 1, User: 1, Anonymous: 1}, turnedAway(d.log))
	path, _ := d.serving()
	dial := func() net.Conn {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	a, b := dial(), dial() // this user may do everything, and is limited only by the number of free places
	for _, c := range []net.Conn{a, b} {
		if got := line(t, c, "/healthz"); !strings.Contains(got, "200") {
			t.Fatal(got)
		}
	}
	if got := line(t, dial(), "/healthz"); !strings.Contains(got, "503") {
		t.Errorf("one too many: %q", got)
	}
	a.Close()
	await.Until(t, "the place is free again", func() (any, bool) {
		got := line(t, dial(), "/healthz")
		return got, strings.Contains(got, "200")
	})
}

// TestNewsOfUsersCounts: the server caches the groups of a user for some time. After that time, a user who has left a
// group is not a member in the first request, however long the user sent none.
func TestNewsOfUsersCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		groups := []string{"users", "admins"}
		n := newNames()
		n.look = func(int) (string, []string, error) {
			time.Sleep(10 * time.Millisecond)
			return "ann", groups, nil
		}
		n.of(1000)
		groups = groups[:1]
		time.Sleep(time.Hour)
		if _, got, _ := n.of(1000); len(got) != 1 {
			t.Errorf("after an hour the groups are %v", got)
		}
	})
}

// TestNamesAreAskedOnce: the directory of users is asked once for many requests. Requests of a known user wait for it
// only a moment. While the directory is away, known users stay known.
func TestNamesAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		var wrong error
		n := newNames()
		n.look = func(uid int) (string, []string, error) {
			time.Sleep(10 * time.Second) // a slow directory
			return fmt.Sprint("user", asked.Add(1)), []string{"staff"}, wrong
		}
		began := time.Now()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if name, groups, _ := n.of(1000); name != "user1" || !slices.Equal(groups, []string{"staff"}) {
					t.Errorf("%s, %s", name, groups)
				}
			})
		}
		all.Wait()
		if asked.Load() != 1 || time.Since(began) != 10*time.Second {
			t.Errorf("asked %d times in %v", asked.Load(), time.Since(began))
		}
		time.Sleep(nameLasts)
		began = time.Now()
		if name, _, _ := n.of(1000); name != "user1" || time.Since(began) != nameWait {
			t.Errorf("%s, after %v", name, time.Since(began))
		}
		time.Sleep(11 * time.Second)
		if name, _, _ := n.of(1000); name != "user2" {
			t.Errorf("what is known is not renewed: %s", name)
		}
		wrong = io.ErrUnexpectedEOF
		time.Sleep(nameLasts)
		n.of(1000)
		time.Sleep(11 * time.Second)
		if name, _, _ := n.of(1000); name != "user2" {
			t.Errorf("the directory is away, and the user is %s", name)
		}
		wrong = user.UnknownUserIdError(1000)
		time.Sleep(30 * time.Second)
		n.of(1000)
		time.Sleep(11 * time.Second)
		if name, _, _ := n.of(1000); name != "uid1000" {
			t.Errorf("a user who was removed is %s", name)
		}
		n.uid = func(name string) (int, error) { return 7, nil } // an account of that name
		time.Sleep(nameLasts)
		n.of(1000)
		time.Sleep(11 * time.Second)
		if name, _, _ := n.of(1000); name != "uid:1000" {
			t.Errorf("a user without a name acts as the account %s", name)
		}
		time.Sleep(time.Minute)
	})
}

// TestNobodyActsUnderAMadeUpName: while the directory of users is away, a user whom it never named is asked to try
// again later, and is served as soon as it is back. The same holds for somebody who submits for a user whose groups are
// unknown.
func TestNobodyActsUnderAMadeUpName(t *testing.T) {
	d := newDesk(t)
	var back atomic.Bool
	d.identity.names.look = func(uid int) (string, []string, error) {
		if !back.Load() {
			return "", nil, syscall.ECONNREFUSED
		}
		return "ann", []string{"staff"}, nil
	}
	d.identity.names.uid = func(string) (int, error) { return 0, syscall.ECONNREFUSED }
	path, _ := d.serving()
	ask := func() *http.Response {
		t.Helper()
		dial := func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }
		c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
		resp, err := c.Get("http://localhost/v1/status")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	resp := ask()
	text, _ := io.ReadAll(resp.Body)
	says := strings.Contains(string(text), `"code":"unavailable","detail":"the system cannot look up uid`)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !says {
		t.Errorf("the answer is %s: %s", resp.Status, text)
	}
	spec := api.Spec{Argv: []string{"true"}, Request: map[string]int64{"cpu": 1}}
	if _, _, status := d.submit(root, spec, "X-Fairlead-As", "bob"); status != http.StatusServiceUnavailable {
		t.Errorf("a job for a user whose groups nobody knows is answered with %d", status)
	}
	back.Store(true)
	d.identity.names.mu.Lock()
	clear(d.identity.names.known) // as if some seconds had passed
	d.identity.names.mu.Unlock()
	if resp := ask(); resp.StatusCode != http.StatusOK {
		t.Errorf("the directory is back, and the answer is %s", resp.Status)
	}
}

// TestSlowDirectoryHoldsNobodyUp: while the system looks up a user, others can connect.
func TestSlowDirectoryHoldsNobodyUp(t *testing.T) {
	d := newDesk(t)
	let := make(chan struct{})
	d.identity.names.look = func(int) (string, []string, error) { <-let; return "ann", []string{"staff"}, nil }
	path, address := d.serving()
	slow, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprint(slow, "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
	other, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if got := line(t, other, "/healthz"); !strings.Contains(got, "200") {
		t.Errorf("another connection gets %q", got)
	}
	close(let)
	slow.SetReadDeadline(time.Now().Add(time.Minute))
	if got, err := bufio.NewReader(slow).ReadString('\n'); !strings.Contains(got, "200") {
		t.Errorf("the one who waited gets %q, %v", got, err)
	}
}

// pipes is a listener in memory: in a bubble, a kernel's listener would not wait.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// bubble runs a test with a server in a bubble, with a session of a user there. The test may pass a handler for the
// server.
func bubble(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, d *desk, dial func() net.Conn, cookie string)) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		if handler != nil {
			d.handler = d.protect(handler)
		}
		all := make(pipes)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- d.Serve(ctx, all) }()
		dial := func() net.Conn {
			mine, theirs := net.Pipe()
			all <- theirs
			return mine
		}
		code, _ := d.identity.browsers.invite(os.Getuid(), linkLasts, true)
		shown, _, _ := d.identity.browsers.begin(code)
		test(t, d, dial, "Cookie: fairlead-session-="+shown+"\r\n")
		d.identity.browsers.endAll(os.Getuid())
		cancel()
		<-ended
		time.Sleep(time.Hour)
	})
}

// TestDrippedRequests: a client that sends a request byte by byte is disconnected, wherever the bytes go: into the
// headers, a form, a document, or a body that nobody reads.
func TestDrippedRequests(t *testing.T) {
	for name, head := range map[string]string{
		"headers":           "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
		"form":              "POST /act HTTP/1.1\r\nHost: localhost\r\nCOOKIEContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n",
		"form of a page":    "POST /policy/edit HTTP/1.1\r\nHost: localhost\r\nCOOKIEContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n",
		"document":          "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nCOOKIEContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
		"nobody's":          "POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n",
		"chunks":            "POST /act HTTP/1.1\r\nHost: localhost\r\nCOOKIETransfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n",
		"body of a reading": "GET /queue HTTP/1.1\r\nHost: localhost\r\nCOOKIEContent-Length: 100000\r\n\r\n",
		"nothing":           "",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, _ *desk, dial func() net.Conn, cookie string) {
				c := dial()
				defer c.Close()
				go io.Copy(io.Discard, c)
				began := time.Now()
				if _, err := io.WriteString(c, strings.ReplaceAll(head, "COOKIE", cookie)); err != nil {
					t.Fatal(err)
				}
				drip := "a"
				if name == "chunks" {
					drip = "1\r\na\r\n"
				}
				for {
					time.Sleep(5 * time.Second)
					c.SetWriteDeadline(time.Now().Add(time.Second))
					if _, err := io.WriteString(c, drip); err != nil {
						break
					}
					if time.Since(began) > time.Hour {
						t.Fatal("it goes on for an hour")
					}
				}
				if took := time.Since(began); took > 2*time.Minute {
					t.Errorf("it went on for %v", took)
				}
			})
		})
	}
}

// TestSlowReaders: a client that reads nothing of an answer is disconnected; a client that reads slowly gets the whole
// answer.
func TestSlowReaders(t *testing.T) {
	const ask = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	bubble(t, nil, func(t *testing.T, d *desk, dial func() net.Conn, _ string) {
		c := dial()
		io.WriteString(c, ask)
		time.Sleep(2 * writeTime)
		if text, _ := io.ReadAll(c); len(text) > 0 {
			t.Errorf("who read nothing gets %d bytes later", len(text))
		}
		slow := dial()
		io.WriteString(slow, ask)
		var text []byte
		for buffer := make([]byte, 1<<10); ; time.Sleep(200 * time.Millisecond) {
			n, err := slow.Read(buffer)
			if text = append(text, buffer[:n]...); err != nil {
				break
			}
		}
		_, body, _ := strings.Cut(string(text), "\r\n\r\n")
		whole, err := d.OpenAPI()
		if err != nil || len(body) < len(whole) || !slices.Contains([]string{"}", "\n"}, body[len(body)-1:]) && !strings.HasSuffix(body, "0\r\n\r\n") {
			t.Errorf("who reads slowly gets %d of %d bytes, %v", len(body), len(whole), err)
		}
	})
}

// TestLongPollsGoOn: a handler may take longer to answer than a request may take to arrive; the client gets the answer,
// and the connection can be used again.
func TestLongPollsGoOn(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(10 * readTime):
			w.WriteHeader(http.StatusNoContent)
		case <-r.Context().Done():
		}
	}
	bubble(t, slow, func(t *testing.T, _ *desk, dial func() net.Conn, cookie string) {
		c := dial()
		defer c.Close()
		for range 2 {
			fmt.Fprintf(c, "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 2\r\n\r\n{}", cookie)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || resp.StatusCode != http.StatusNoContent {
				t.Fatalf("%v, %v", resp, err)
			}
		}
	})
}

// TestPollsOfAgentsLast: a poll of an agent waits for its full time, and so do later polls on the same connection. If
// polls were answered at once, an idle agent would poll without pause.
func TestPollsOfAgentsLast(t *testing.T) {
	bubble(t, nil, func(t *testing.T, _ *desk, dial func() net.Conn, cookie string) {
		c := dial()
		defer c.Close()
		answers := bufio.NewReader(c)
		post := func(path, in string, out any) {
			t.Helper()
			fmt.Fprintf(c, "POST /v1/agents/n1/%s HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				path, cookie, len(in), in)
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if err := json.NewDecoder(resp.Body).Decode(out); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s, %v", path, resp.Status, err)
			}
		}
		var joined api.JoinResponse
		post("join", `{"capacity": {"cpu": 1}, "instance": "one"}`, &joined)
		for range 3 {
			began := time.Now()
			post("poll", fmt.Sprintf(`{"session": %q, "wait_seconds": 15}`, joined.Session), new(api.PollResponse))
			if took := time.Since(began); took != 15*time.Second {
				t.Errorf("a poll lasts %v, not 15s", took)
			}
		}
	})
}
