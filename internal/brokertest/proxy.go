package brokertest

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy stands between a client and a broker, and can come between them.
type Proxy struct {
	Address  string
	upstream string
	mu       sync.Mutex
	hold     bool   // what clients send is kept
	mute     bool   // what the broker answers is thrown away
	thrown   bool   // an answer was thrown away
	sent     []byte // by clients, since hold or mute
	pipes    []*pipe
}

// pipe is one connection.
type pipe struct {
	client, server net.Conn
	held           []byte
	kept           bool // the broker shall not hear that the client has gone
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
	x := &pipe{client: client, server: server}
	p.mu.Lock()
	p.pipes = append(p.pipes, x)
	p.mu.Unlock()
	go p.copy(client, func(text []byte) {
		if p.hold || p.mute {
			p.sent = append(p.sent, text...)
		}
		if p.hold {
			x.held = append(x.held, text...)
		} else {
			server.Write(text)
		}
	}, func() {
		if !p.hold && !x.kept { // held bytes may be sent when the client has gone
			server.Close()
		}
	})
	go p.copy(server, func(text []byte) {
		if p.mute {
			p.thrown = p.thrown || len(text) > 0
		} else {
			client.Write(text)
		}
	}, func() { client.Close() })
}

// copy hands on what comes from a connection, until it ends.
func (p *Proxy) copy(from net.Conn, hand func([]byte), end func()) {
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
			io.Copy(io.Discard, from)
			return
		}
	}
}

// Hold keeps what clients send from now on, also when they have gone.
func (p *Proxy) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = true
}

// Mute throws away what the broker answers from now on.
func (p *Proxy) Mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = true
}

// Lost reports whether a client has sent a text, and the broker will not get it, or its answer was thrown away.
func (p *Proxy) Lost(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(p.sent, []byte(text)) && (p.hold || p.thrown)
}

// Pass lets everything pass of connections that are made from now on. Those that are there stay
// as they are, and are returned: they are to be ended with Release or Drop.
func (p *Proxy) Pass() *Held {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &Held{pipes: p.pipes}
	for _, x := range h.pipes {
		x.kept = true
	}
	p.pipes, p.hold, p.mute, p.thrown, p.sent = nil, false, false, false, nil
	return h
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.Pass().Drop()
}

// Held are connections whose clients have gone, although the broker has not heard that.
type Held struct{ pipes []*pipe }

// Release has the broker receive the held bytes, and ends the connections.
func (h *Held) Release() {
	for _, x := range h.pipes {
		x.server.Write(x.held)
	}
	h.Drop()
}

// Drop ends the connections.
func (h *Held) Drop() {
	for _, x := range h.pipes {
		x.server.Close()
		x.client.Close()
	}
}
