package server

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/quota"
	"github.com/fairlead/fairlead/internal/socket"
)

// connectionLimits bound how many connections there are at once.
type connectionLimits struct {
	All       int // of everybody
	Reserved  int // of these, for agents, bridges and administrators: root, and the server's own user
	User      int // of one user who is none of them
	Anonymous int // over TCP, without a session
}

// limitsFor divides the files that the process may open. It keeps some for the database and the
// like. A connection needs one.
func limitsFor(files int) connectionLimits {
	all := max(files-128-maxDelayedCloses, files/2)
	users := all - all/4
	return connectionLimits{All: all, Reserved: all / 4, User: min(512, users/4), Anonymous: min(1024, users/4)}
}

// limitsHere are those for this process. The Go runtime has raised its limit as far as it may.
func limitsHere() connectionLimits {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		files.Cur = 1024
	}
	return limitsFor(int(min(files.Cur, 1<<20)))
}

// gate lets connections in. It knows whose they are before anything is read from them, and closes
// connections above the limits.
type gate struct {
	limits connectionLimits
	known  quota.Quota // connections whose user is known
	refuse func(uid int, err error)

	mu        sync.Mutex
	anonymous list.List // of *conn, the oldest first
	refused   [maxDelayedCloses]net.Conn
	last      int
}

// maxDelayedCloses bounds the refused connections that are closed later.
const maxDelayedCloses = 32

func newGate(l connectionLimits, refuse func(int, error)) *gate {
	return &gate{limits: l, known: quota.Quota{All: l.All - l.Anonymous, Reserved: l.Reserved, User: l.User}, refuse: refuse}
}

// privileged are the users who may do everything.
func privileged(uid int) bool { return uid == 0 || uid == os.Getuid() }

// conn is a connection that was let in. The user of one over a Unix socket is known from the
// beginning; that of another one when a session comes with a request.
type conn struct {
	net.Conn
	gate   *gate
	by     access.Authenticator // that of its listener, if that has one of its own
	socket bool                 // it is a Unix socket

	mu     sync.Mutex
	known  bool          // it is known whose it is
	holder int           // who that is, for the quota
	place  *list.Element // among the anonymous
	closed bool
}

// Close gives the place back.
func (c *conn) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.gate.leave(c)
	}
	c.mu.Unlock()
	return c.Conn.Close()
}

// leave forgets a connection. The caller holds its lock.
func (g *gate) leave(c *conn) {
	if c.known {
		g.known.Give(c.holder)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.place != nil {
		g.anonymous.Remove(c.place)
		c.place = nil
	}
}

// claim notes whose an anonymous connection is. It fails if they have too many.
func (c *conn) claim(p *access.Principal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.known {
		return nil
	}
	holder := holderOf(p)
	if err := c.gate.known.Take(holder, p.Admin || p.Kind == access.Node); err != nil {
		return err
	}
	c.gate.leave(c)
	c.known, c.holder = true, holder
	return nil
}

// holderOf is a principal as quotas count it: a user by the number, and whoever has none by a number below 0 that
// belongs to the kind and the name.
func holderOf(p *access.Principal) int {
	if p.Kind == access.User && p.UID >= 0 {
		return p.UID
	}
	h := fnv.New32a()
	io.WriteString(h, string(p.Kind)+"/"+p.Name)
	return -2 - int(h.Sum32()>>1)
}

// enter lets a connection in.
func (g *gate) enter(c net.Conn, by access.Authenticator) (*conn, error) {
	in := &conn{Conn: c, gate: g, by: by}
	if u, ok := c.(*net.UnixConn); ok && by == nil {
		uid, err := socket.PeerUID(u)
		if err != nil {
			return nil, err
		}
		if err := g.known.Take(uid, privileged(uid)); err != nil {
			g.refuse(uid, err)
			return nil, err
		}
		in.socket, in.known, in.holder = true, true, uid
		return in, nil
	}
	g.mu.Lock()
	in.place = g.anonymous.PushBack(in)
	var oldest *conn
	if g.anonymous.Len() > g.limits.Anonymous {
		oldest = g.anonymous.Front().Value.(*conn)
	}
	g.mu.Unlock()
	if oldest != nil {
		oldest.giveWay()
	}
	return in, nil
}

// giveWay closes an anonymous connection, so that whoever comes can connect, however many somebody
// else holds. A browser shows its session at once, and is anonymous no longer.
func (c *conn) giveWay() {
	c.mu.Lock()
	known := c.known
	c.mu.Unlock()
	if !known {
		c.Close()
	}
}

// gated is a listener behind the gate.
type gated struct {
	net.Listener
	gate *gate
	by   access.Authenticator // its own, if it has one
}

// Accept returns the next connection that is let in.
func (l gated) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		in, err := l.gate.enter(c, l.by)
		if err == nil {
			return in, nil
		}
		l.gate.turnAway(c, err)
	}
}

// turnAway says why a connection is refused, without waiting for anybody: the answer fits into the
// buffer of the connection. The last few of them are closed later, as a client that cannot send its
// request does not look for an answer.
func (g *gate) turnAway(c net.Conn, why error) {
	status := "503 Service Unavailable"
	if errors.Is(why, quota.ErrUser) {
		status = "429 Too Many Requests"
	}
	text := fmt.Sprintf(`{"title":%q,"status":%.3s,"code":"busy","detail":"too many connections: %v; close some, or try again later"}`+"\n", status[4:], status, why)
	c.SetWriteDeadline(time.Now().Add(time.Second))
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, len(text), text)
	g.mu.Lock()
	i := g.last % len(g.refused)
	g.last++
	c, g.refused[i] = g.refused[i], c
	g.mu.Unlock()
	if c != nil {
		c.Close()
	}
}

// close closes the connections whose close was delayed.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, c := range g.refused {
		if c != nil {
			c.Close()
		}
		g.refused[i] = nil
	}
}

type connKey struct{}

// connContext notes the connection of a request.
func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// turnedAway writes down that connections were refused.
func turnedAway(log *slog.Logger) func(uid int, err error) {
	var refused refusals
	return func(uid int, err error) {
		refused.note(func(n int) { log.Warn("connections are refused", "refused", n, "uid", uid, "why", err) })
	}
}
