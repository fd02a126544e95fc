package brokertest

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/await"
)

// Proxy stands between a client and a broker, and can come between them.
type Proxy struct {
	Address  string
	upstream string
	mu       sync.Mutex
	mode     mode   // of connections that are made
	thrown   bool   // an answer was thrown away
	sent     []byte // by clients, since hold or mute
	pipes    []*pipe
}

// mode says what a connection does with the bytes that it gets.
type mode int

const (
	through mode = iota
	hold         // it keeps those of the client
	mute         // it throws those of the broker away
)

// pipe is one connection. Unless its mode is through, the broker does not hear that the client has gone.
type pipe struct {
	client, server net.Conn
	mode           mode
	passed         bool // it is Held
	held           []byte
	gone, answered chan struct{} // all that came from the client, and from the broker, was handed on or kept
}

// NewProxy is a way to an address that lets everything pass.
func NewProxy(t testing.TB, upstream string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), upstream: upstream}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.begin(c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		p.Cut()
	})
	return p
}

func (p *Proxy) begin(client net.Conn) {
	server, err := net.Dial("tcp", p.upstream)
	if err != nil {
		client.Close()
		return
	}
	x := &pipe{client: client, server: server, gone: make(chan struct{}), answered: make(chan struct{})}
	p.mu.Lock()
	x.mode = p.mode
	p.pipes = append(p.pipes, x)
	p.mu.Unlock()
	go p.copy(client, x.gone, func(text []byte) { p.toServer(x, text) }, func() {
		if x.mode == through {
			server.Close()
		}
	})
	go p.copy(server, x.answered, func(text []byte) {
		if x.mode != mute {
			client.Write(text)
		} else if !x.passed {
			p.thrown = p.thrown || len(text) > 0
		}
	}, func() { client.Close() })
}

func (p *Proxy) toServer(x *pipe, text []byte) {
	if x.mode != through && !x.passed {
		p.sent = append(p.sent, text...)
	}
	if x.mode == hold {
		x.held = append(x.held, text...)
	} else {
		x.server.Write(text)
	}
}

// copy hands on what comes from a connection, until it ends.
func (p *Proxy) copy(from net.Conn, over chan struct{}, hand func([]byte), end func()) {
	defer close(over)
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		hand(buffer[:n])
		if err != nil {
			end()
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Hold keeps what clients send from now on, also when they have gone.
func (p *Proxy) Hold() { p.set(hold) }

// Mute throws away what the broker answers from now on.
func (p *Proxy) Mute() { p.set(mute) }

func (p *Proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	for _, x := range p.pipes {
		x.mode = m
	}
}

// Lost reports whether a client has sent a text, and the broker will not get it, or its answer was thrown away.
func (p *Proxy) Lost(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(p.sent, []byte(text)) && (p.mode == hold || p.thrown)
}

// Pass lets everything pass of connections that are made from now on. Those that are there stay
// as they are, and are returned: they are to be ended with Release or Drop.
func (p *Proxy) Pass() *Held {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &Held{pipes: p.pipes}
	for _, x := range h.pipes {
		x.passed = true
	}
	p.pipes, p.mode, p.thrown, p.sent = nil, through, false, nil
	return h
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.Pass().Drop()
}

// Held are connections whose clients have gone, although the broker has not heard that.
type Held struct{ pipes []*pipe }

// Release has the broker receive all that the clients sent before they went, and ends the connections as the broker
// hears of it. To close a connection while the broker still reads, or while an answer is under way, would destroy the
// bytes on their way.
func (h *Held) Release() {
	for _, x := range h.pipes {
		x.client.(*net.TCPConn).CloseRead() // the bytes that came are read first
		await.Within(await.Patience, func() bool { return over(x.gone) })
		x.server.Write(x.held)
		x.server.(*net.TCPConn).CloseWrite()
		await.Within(await.Patience, func() bool { return over(x.answered) })
	}
	h.Drop()
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Drop ends the connections.
func (h *Held) Drop() {
	for _, x := range h.pipes {
		x.server.Close()
		x.client.Close()
	}
}
