package brokertest

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/internal/await"
)

// Proxy is between a client and a broker, and can disturb their connection.
type Proxy struct {
	Address  string
	upstream string
	mu       sync.Mutex
	mode     mode   // of new connections
	thrown   bool   // an answer was dropped
	sent     []byte // bytes from clients since Hold or Mute
	pipes    []*pipe
}

// mode says what a connection does with the bytes that it receives.
type mode int

const (
	through mode = iota
	hold         // keep the bytes of the client
	mute         // drop the bytes of the broker
)

// pipe is one connection. Unless its mode is through, the broker does not learn that the client has gone.
type pipe struct {
	client, server net.Conn
	mode           mode
	passed         bool // Pass has moved it to a Held
	held           []byte
	gone, answered chan struct{} // closed when all bytes of the client, and of the broker, were forwarded or kept
}

// NewProxy returns a proxy of an address that forwards everything.
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

// copy forwards the bytes of a connection, until it ends.
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

// Hold keeps everything that clients send from now on, even when they have gone.
func (p *Proxy) Hold() { p.set(hold) }

// Mute drops the answers of the broker from now on.
func (p *Proxy) Mute() { p.set(mute) }

func (p *Proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
	for _, x := range p.pipes {
		x.mode = m
	}
}

// Lost reports whether a client has sent a text that the broker will not get, or whose answer was dropped.
func (p *Proxy) Lost(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Contains(p.sent, []byte(text)) && (p.mode == hold || p.thrown)
}

// Pass forwards everything on new connections. It returns the present connections, which stay as they are;
// the caller must end them with Release or Drop.
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

// Held holds connections that the proxy still disturbs: the broker does not learn that their clients have
// gone.
type Held struct{ pipes []*pipe }

// Release sends the broker everything that the clients sent before they went, and ends the connections when it has
// arrived. Ending a connection earlier could destroy bytes in transit: when a connection ends, a broker may drop
// bytes that it has read but not handled.
func (h *Held) Release(arrived func() bool) {
	for _, x := range h.pipes {
		x.client.(*net.TCPConn).CloseRead() // first read the bytes that have arrived
		await.Within(await.Patience, func() bool { return over(x.gone) })
		x.server.Write(x.held)
	}
	await.Within(await.Patience, arrived)
	for _, x := range h.pipes {
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

// Drop ends the connections, and drops the bytes that the clients sent.
func (h *Held) Drop() {
	for _, x := range h.pipes {
		x.server.Close()
		x.client.Close()
	}
}
