package server

import (
	"net"
	"slices"
	"strings"
	"sync"
)

// addresses holds the addresses on which the server listens.
type addresses struct {
	mu   sync.Mutex
	all  []string
	unix []string // the Unix sockets among them
	web  []string // the addresses for browsers

	ports []net.Listener // which may open later
}

// listen adds the address of a listener as soon as it listens.
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

// missing names the addresses on which the server should listen but does not, with the reasons; "" if there are none.
// If browsers is set, it names only addresses for browsers.
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

// add adds the address of a listener. A listener with its own authenticator is not for browsers.
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

// every returns all addresses.
func (a *addresses) every() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all)
}

// sockets returns the paths of the Unix sockets.
func (a *addresses) sockets() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.unix)
}

// forBrowsers returns the addresses that a browser can open.
func (a *addresses) forBrowsers() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.web)
}

// forBrowser returns the first address for browsers, or "" if the server listens only on its socket.
func (a *addresses) forBrowser() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.web) == 0 {
		return ""
	}
	return a.web[0]
}
