package server

import (
	"net"
	"slices"
	"sync"
)

// addresses are those on which the server listens.
type addresses struct {
	mu   sync.Mutex
	all  []string
	unix []string // those among them that are Unix sockets
	web  []string // those for browsers
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
