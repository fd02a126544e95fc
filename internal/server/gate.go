package server

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

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
	all := max(files-128-lingering, files/2)
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
// those that are one too many.
type gate struct {
	limits connectionLimits
	known  quota.Quota // connections whose user is known
	refuse func(uid int, err error)

	mu        sync.Mutex
	anonymous list.List // of *conn, the oldest first
	refused   [lingering]net.Conn
	last      int
}

// lingering is how many refused connections are closed later.
const lingering = 32

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
	socket bool // it is a Unix socket

	mu     sync.Mutex
	uid    int           // -1 as long as it is not known
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
	if c.uid >= 0 {
		g.known.Give(c.uid)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.place != nil {
		g.anonymous.Remove(c.place)
		c.place = nil
	}
}

// claim notes that an anonymous connection belongs to a user. It fails if the user has too many.
func (c *conn) claim(uid int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.uid >= 0 {
		return nil
	}
	if err := c.gate.known.Take(uid, privileged(uid)); err != nil {
		return err
	}
	c.gate.leave(c)
	c.uid = uid
	return nil
}

// enter lets a connection in.
func (g *gate) enter(c net.Conn) (*conn, error) {
	in := &conn{Conn: c, gate: g, uid: -1}
	if u, ok := c.(*net.UnixConn); ok {
		uid, err := socket.PeerUID(u)
		if err != nil {
			return nil, err
		}
		if err := g.known.Take(uid, privileged(uid)); err != nil {
			g.refuse(uid, err)
			return nil, err
		}
		in.socket, in.uid = true, uid
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
	known := c.uid >= 0
	c.mu.Unlock()
	if !known {
		c.Close()
	}
}

// gated is a listener behind the gate.
type gated struct {
	net.Listener
	gate *gate
}

// Accept returns the next connection that is let in.
func (l gated) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		in, err := l.gate.enter(c)
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

// close closes what lingers.
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

// turnedAway writes down that connections were refused: at most once in ten seconds, as they may
// be many.
func (s *Server) turnedAway() func(uid int, err error) {
	var mu sync.Mutex
	var said time.Time
	refused := 0
	return func(uid int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if refused++; time.Since(said) < 10*time.Second {
			return
		}
		s.log.Warn("connections are refused", "refused", refused, "uid", uid, "why", err)
		said, refused = time.Now(), 0
	}
}
