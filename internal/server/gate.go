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

// connectionLimits limits the number of connections at once.
type connectionLimits struct {
	All       int // of all users together
	Reserved  int // of these, for agents, bridges and administrators: root, and the server's own user
	User      int // of one user without a reserved place
	Anonymous int // over TCP, without a session
}

// limitsFor derives the limits from how many files the process may open. It keeps some for the database and the like. A
// connection needs one.
func limitsFor(files int) connectionLimits {
	all := max(files-128-maxDelayedCloses, files/2)
	users := all - all/4
	return connectionLimits{All: all, Reserved: all / 4, User: min(512, users/4), Anonymous: min(1024, users/4)}
}

// limitsHere returns the limits for this process. The Go runtime has raised its file limit as far as possible.
func limitsHere() connectionLimits {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		files.Cur = 1024
	}
	return limitsFor(int(min(files.Cur, 1<<20)))
}

// gate admits connections. It knows the user of a socket connection before it reads anything, and closes connections
// above the limits.
type gate struct {
	limits connectionLimits
	known  quota.Quota // connections whose user is known
	refuse func(uid int, err error)

	mu        sync.Mutex
	anonymous list.List // of *conn, the oldest first
	refused   [maxDelayedCloses]net.Conn
	last      int
}

// maxDelayedCloses is how many refused connections are closed later.
const maxDelayedCloses = 32

func newGate(l connectionLimits, refuse func(int, error)) *gate {
	return &gate{limits: l, known: quota.Quota{All: l.All - l.Anonymous, Reserved: l.Reserved, User: l.User}, refuse: refuse}
}

// privileged reports whether a user may do everything.
func privileged(uid int) bool { return uid == 0 || uid == os.Getuid() }

// conn is an admitted connection. The user of a connection over a Unix socket is known from the start. The user of any
// other connection is known once a request presents a session.
type conn struct {
	net.Conn
	gate   *gate
	by     access.Authenticator // the authenticator of its listener, if the listener has its own
	socket bool                 // connected over a Unix socket

	mu     sync.Mutex
	known  bool          // the user is known
	holder int           // the user, for the quota
	place  *list.Element // in gate.anonymous
	closed bool
}

// Close frees the place of the connection and closes it.
func (c *conn) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.gate.leave(c)
	}
	c.mu.Unlock()
	return c.Conn.Close()
}

// leave removes a connection. The caller holds its lock.
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

// claim records whose an anonymous connection is. It fails if that principal has too many connections.
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

// holderOf returns the number of a principal for quotas: the number of a user, or, for others, a negative number
// derived from the kind and the name.
func holderOf(p *access.Principal) int {
	if p.Kind == access.User && p.UID >= 0 {
		return p.UID
	}
	h := fnv.New32a()
	io.WriteString(h, string(p.Kind)+"/"+p.Name)
	return -2 - int(h.Sum32()>>1)
}

// enter admits a connection.
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

// giveWay closes an anonymous connection, so that a new client can connect however many connections others hold. A
// browser presents its session at once, and is then no longer anonymous.
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
	by   access.Authenticator // of the listener, if it has its own
}

// Accept returns the next admitted connection.
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

// turnAway answers why a connection is refused, without waiting: the answer fits into the buffer of the connection. It
// closes the last few of them later, because a client that cannot send its request does not read the answer.
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

// connContext adds the connection to the context of a request.
func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// turnedAway logs refused connections.
func turnedAway(log *slog.Logger) func(uid int, err error) {
	var refused refusals
	return func(uid int, err error) {
		refused.note(func(n int) { log.Warn("connections are refused", "refused", n, "uid", uid, "why", err) })
	}
}
