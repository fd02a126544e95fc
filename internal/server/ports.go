package server

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// portAgain is how long the server waits before it tries again to get a port that another process has.
const portAgain = 2 * time.Second

// port is a TCP address on which the server listens as soon as it can. Any user can take a port while no server has it;
// the server then still answers on its socket, and listens here once the port is free.
type port struct {
	address string
	log     *slog.Logger
	ended   chan struct{}

	mu     sync.Mutex
	l      net.Listener // nil until the port is open
	err    error        // why it is not open
	closed bool
	opened func() // called once it is open
}

// listenAt returns a listener on an address; see Server.Listen.
func listenAt(address string, log *slog.Logger) (*port, error) {
	p := &port{address: address, log: log, ended: make(chan struct{}), opened: func() {}}
	if p.try(); p.err == nil {
		return p, nil
	}
	var system *os.SyscallError
	var name *net.DNSError
	if !errors.As(p.err, &system) && !(errors.As(p.err, &name) && name.Temporary()) {
		return nil, p.err
	}
	log.Error("the server cannot listen here; it answers on its socket, and tries again", "address", address,
		"error", p.err)
	return p, nil
}

// try tries to open the port.
func (p *port) try() {
	l, err := net.Listen("tcp", p.address)
	p.mu.Lock()
	if p.closed && err == nil {
		l.Close()
		err = net.ErrClosed
	}
	p.l, p.err = l, err
	opened := p.opened
	p.mu.Unlock()
	if err == nil {
		opened()
	}
}

// whenOpen calls f as soon as the port is open.
func (p *port) whenOpen(f func()) {
	p.mu.Lock()
	p.opened = f
	there := p.err == nil
	p.mu.Unlock()
	if there {
		f()
	}
}

// Missing returns the system's error why the port is not open, or nil if it is.
func (p *port) Missing() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var system *os.SyscallError
	if errors.As(p.err, &system) {
		return system.Err
	}
	return p.err
}

// listener returns the system's listener, or nil until the port is open.
func (p *port) listener() net.Listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil
	}
	return p.l
}

// Accept returns the next connection. Until the port is open, it tries to open it.
func (p *port) Accept() (net.Conn, error) {
	l, err := p.get()
	if err != nil {
		return nil, err
	}
	return l.Accept()
}

// get waits until the port is open.
func (p *port) get() (net.Listener, error) {
	for late := false; ; late = true {
		if l := p.listener(); l != nil {
			if late {
				p.log.Warn("the server listens here now", "address", p.address)
			}
			return l, nil
		}
		select {
		case <-p.ended:
			return nil, net.ErrClosed
		case <-time.After(portAgain):
			p.try()
		}
	}
}

// Close stops listening, or trying to.
func (p *port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	p.closed = true
	close(p.ended)
	if p.err != nil {
		return nil
	}
	return p.l.Close()
}

// Addr returns where the port listens, or will.
func (p *port) Addr() net.Addr {
	if l := p.listener(); l != nil {
		return l.Addr()
	}
	return wanted(p.address)
}

// wanted is the address of a port that is not open.
type wanted string

// Network implements net.Addr.
func (wanted) Network() string { return "tcp" }

// String implements net.Addr.
func (w wanted) String() string { return string(w) }

// portOf returns the port below a listener, or nil if there is none.
func portOf(l net.Listener) *port {
	switch l := l.(type) {
	case *port:
		return l
	case Authenticated:
		return portOf(l.Listener)
	case nodeListener:
		return portOf(l.Listener)
	}
	return nil
}
