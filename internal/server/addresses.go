package server

import (
	"net"
	"slices"
	"strings"
	"sync"
)

// addresses are those on which the server listens.
type addresses struct {
	mu   sync.Mutex
	all  []string
	unix []string // those among them that are Unix sockets
	web  []string // those for browsers

	ports []net.Listener // which may be there later
}

// listen notes where a listener listens, as soon as it does.
func (a *addresses) listen(l net.Listener) {
	p := portOf(l)
	if p == nil {
		a.add(l)
		return
	}
	a.mu.Lock()
	a.ports = append(a.ports, l)
	a.mu.Unlock()
	p.whenOpen(func() { a.add(l) })
}

// missing says on which addresses the server was to listen and does not, and why; "" if there are none. Only those for
// browsers can be asked for.
func (a *addresses) missing(browsers bool) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, l := range a.ports {
		p := portOf(l)
		if _, own := l.(Authenticated); browsers && own {
			continue
		}
		if err := p.Missing(); err != nil {
			all = append(all, p.address+" ("+err.Error()+")")
		}
	}
	return strings.Join(all, ", ")
}

// add notes where a listener listens. One with an authenticator of its own is not for browsers.
func (a *addresses) add(l net.Listener) {
	a.mu.Lock()
	defer a.mu.Unlock()
	address := l.Addr()
	a.all = append(a.all, address.String())
	switch _, own := l.(Authenticated); {
	case own:
	case address.Network() == "tcp":
		a.web = append(a.web, address.String())
	default:
		a.unix = append(a.unix, address.String())
	}
}

// every is each of them.
func (a *addresses) every() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

// sockets are the paths of the Unix sockets.
func (a *addresses) sockets() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.unix)
}

// forBrowsers are the addresses that a browser can open.
func (a *addresses) forBrowsers() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.web)
}

// forBrowser is the first of those for browsers; nothing if the server listens on its socket only.
func (a *addresses) forBrowser() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.web) == 0 {
		return ""
	}
	return a.web[0]
}
