package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

func (s *Server) signInRoutes(a huma.API) {
	handle(a, http.MethodPost, "/v1/sign-in", "sign-in", "Get an address that opens the dashboard as yourself, once", 0, s.signIn)
	handle(a, http.MethodDelete, "/v1/sessions", "sign-out", "End all your sessions in browsers", 0, s.signOut)
}

type signInInput struct{ Body api.SignInRequest }

// signIn gives whoever is known by the socket a code with which a browser can show that it is
// theirs. A session gives no further one, so that a stolen session ends by itself.
func (s *Server) signIn(ctx context.Context, _ *signInInput) (*body[api.SignInResponse], error) {
	a := who(ctx)
	if a.UID < 0 || a.By != bySocket {
		return nil, fmt.Errorf("only whoever is known by the server's socket may begin a session: use fairlead dashboard: %w", fairlead.ErrForbidden)
	}
	address := s.webAddress()
	if address == "" {
		return nil, fmt.Errorf("the server listens on no address for browsers: start it with --listen 127.0.0.1:7447, or with server.listen in its configuration: %w", fairlead.ErrState)
	}
	code, until := s.browsers.invite(a.UID, linkLasts)
	return answer(api.SignInResponse{Version: api.Version, Address: loginAddress(address, code), Until: until}), nil
}

func (s *Server) signOut(ctx context.Context, _ *struct{}) (*body[api.SignOutResponse], error) {
	a := who(ctx)
	if a.UID < 0 {
		return nil, check(a, "end sessions", "")
	}
	return answer(api.SignOutResponse{Version: api.Version, Ended: s.browsers.endAll(a.UID)}), nil
}

// Invite is an address that opens the dashboard as a user, once, within some time. It is empty if
// the server listens on no address.
func (s *Server) Invite(uid int, lasts time.Duration) string {
	address := s.webAddress()
	if address == "" {
		return ""
	}
	code, _ := s.browsers.invite(uid, lasts)
	return loginAddress(address, code)
}

// webAddress is where browsers find the server; nothing if it listens on its socket only.
func (s *Server) webAddress() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.web) == 0 {
		return ""
	}
	return s.web[0]
}

func loginAddress(address, code string) string {
	return "http://" + address + "/login?code=" + url.QueryEscape(code)
}

// cookieName is that of the session's cookie. Browsers send a cookie to all ports of a host, so
// that of each server of a machine has a name of its own.
func cookieName(r *http.Request) string {
	port := ""
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		_, port, _ = net.SplitHostPort(a.String())
	}
	return "fairlead-session-" + port
}

// login begins a session, if the address with the code was opened by itself: a page of somebody
// else that leads there could have its reader act as somebody else. A program that only looks what
// is there does not use up the code.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	from := r.Header.Get("Sec-Fetch-Site")
	looks := r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch")
	if looks || from != "" && from != "none" && from != "same-origin" {
		s.pages.Refuse(w, r, fmt.Errorf("copy this address into the address bar of your browser: it does not work as a link of another page: %w", fairlead.ErrForbidden))
		return
	}
	shown, uid, ok := s.browsers.begin(r.URL.Query().Get("code"))
	if !ok {
		s.unauthenticated(w, r, "this address was used before, or its time is over")
		return
	}
	s.log.Info("a browser has begun a session", "user", s.actorOf(uid, bySession).User)
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: shown, Path: "/", MaxAge: int(sessionLasts.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

// logout ends the session of a browser.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		s.browsers.end(c.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	w.Header().Set("Cache-Control", "no-store")
	s.unauthenticated(w, r, "you have signed out")
}

// unauthenticated says that something is for those who are known, and how to become so.
func (s *Server) unauthenticated(w http.ResponseWriter, r *http.Request, why string) {
	w.Header().Set("WWW-Authenticate", "Session")
	s.pages.Deny(w, r, http.StatusUnauthorized, &api.Error{Code: api.CodeUnauthenticated, Detail: why + ". To open the dashboard, run `fairlead dashboard` on the server's machine, and open the address that it prints. Programs use the server's socket."})
}
