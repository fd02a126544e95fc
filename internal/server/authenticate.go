package server

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/socket"
)

// Authenticated is a listener with its own authenticator, which alone identifies the senders of its requests.
type Authenticated struct {
	net.Listener
	By access.Authenticator
}

// peers authenticates the users at the other end of the socket. The system knows who opened each connection.
type peers struct{ names *names }

// Authenticate asks the system who opened the connection.
func (a peers) Authenticate(c net.Conn, _ *http.Request) (*access.Proof, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, nil
	}
	uid, err := socket.PeerUID(u)
	if err != nil {
		return nil, err
	}
	p, err := a.names.principal(uid, access.BySocket)
	if err != nil {
		return nil, err
	}
	return &access.Proof{Principal: p}, nil
}

// sessions authenticates browsers by their sessions, which began with a code from the socket.
type sessions struct {
	names      *names
	browsers   *browsers
	administer func(*access.Principal) bool
}

// onlyLooks holds the scopes of an administrator's session that may not change things.
var onlyLooks = []string{"read"}

// Authenticate finds the session that a browser presents. A page on another port of the machine may have set more
// cookies of this name for some paths. Browsers send the cookie of the longest path first, so the last one is ours.
// Worthless cookies before it are ignored, so that they lock nobody out.
func (a sessions) Authenticate(_ net.Conn, r *http.Request) (*access.Proof, error) {
	if _, shown := shownToken(r); shown { // an eavesdropper could use it
		return nil, errors.New("a token is valid only on the server's socket and over TLS")
	}
	for _, cookie := range slices.Backward(r.CookiesNamed(cookieName(r))) {
		b, done := a.browsers.use(cookie.Value)
		if b == nil {
			continue
		}
		p, err := a.names.principal(b.uid, access.BySession)
		if err != nil {
			done()
			return nil, err
		}
		if a.administer(&p) {
			if p.AdminUntil = b.admin; !time.Now().Before(b.admin) {
				p.Scopes = onlyLooks
			}
		}
		return &access.Proof{Principal: p, Ends: b.ctx, Done: done}, nil
	}
	return nil, nil
}

// shownToken returns the text of the token in a request, if there is one.
func shownToken(r *http.Request) (text string, shown bool) {
	all := r.Header.Values("Authorization")
	if len(all) == 0 {
		return "", false
	}
	scheme, text, _ := strings.Cut(all[0], " ")
	if len(all) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return "", true // this is not a token
	}
	return strings.TrimSpace(text), true
}

// principal returns a user of this machine.
func (n *names) principal(uid int, via string) (access.Principal, error) {
	name, groups, err := n.of(uid)
	return access.Principal{Kind: access.User, Name: name, UID: uid, Groups: groups, Via: via}, err
}

// cookieName returns the name of the session's cookie. Browsers send a cookie to all ports of a host, so each server of
// a machine needs a name of its own.
func cookieName(r *http.Request) string {
	port := ""
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		_, port, _ = net.SplitHostPort(a.String())
	}
	return "fairlead-session-" + port
}
