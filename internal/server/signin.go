package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// signInService begins and ends the sessions of browsers.
type signInService struct {
	loop      *engine.Loop
	identity  *identity
	addresses *addresses
	log       *slog.Logger
}

func (s *signInService) routes(a huma.API) {
	handle(a, http.MethodPost, "/v1/sign-in", "sign-in", "Get an address that signs you in to the dashboard, once", 0, body(s.signIn))
	handle(a, http.MethodDelete, "/v1/sessions", "sign-out", "End all your sessions in browsers", 0, alone(s.signOut))
}

// signIn gives a user who is known by the socket a code, with which a browser proves that it belongs to that user. A
// session gets no further code, so that a stolen session ends by itself.
func (s *signInService) signIn(ctx context.Context, in api.SignInRequest) (*api.SignInResponse, error) {
	a := who(ctx)
	if err := check(ctx, s.loop, access.SignIn, access.Object{}); err != nil {
		return nil, err
	}
	if in.Admin && !a.Admin {
		return nil, fmt.Errorf(
			"only administrators may use --admin, and you (%s) are not one: %w", a.Name, queue.ErrForbidden)
	}
	address := s.addresses.forBrowser()
	if missing := s.addresses.missing(true); address == "" && missing != "" {
		return nil, fmt.Errorf("the server cannot listen on %s, so the program that answers there may be another user's; "+
			"end that program, and try again: %w", missing, queue.ErrState)
	}
	if address == "" {
		return nil, fmt.Errorf("the server listens on no address for browsers: start it with --listen 127.0.0.1:7447, or with server.listen in its configuration: %w", queue.ErrState)
	}
	code, until := s.identity.browsers.invite(a.UID, linkLasts, in.Admin)
	return &api.SignInResponse{
		Version: api.Version, Address: loginAddress(address, code), Until: until, OnlyLooks: a.Admin && !in.Admin,
	}, nil
}

func (s *signInService) signOut(ctx context.Context) (*api.SignOutResponse, error) {
	a := who(ctx)
	if err := check(ctx, s.loop, access.SignOut, access.Object{}); err != nil {
		return nil, err
	}
	return &api.SignOutResponse{Version: api.Version, Ended: s.identity.browsers.endAll(a.UID)}, nil
}

// invite returns an address that opens the dashboard as a user, once, within the time "lasts". The session of an
// administrator cannot change things. The address is empty if the server listens on none.
func (s *signInService) invite(uid int, lasts time.Duration) string {
	address := s.addresses.forBrowser()
	if address == "" {
		return ""
	}
	code, _ := s.identity.browsers.invite(uid, lasts, false)
	return loginAddress(address, code)
}

func loginAddress(address, code string) string {
	return "http://" + address + "/login?code=" + url.QueryEscape(code)
}

// login begins a session only if the address with the code was opened directly, because a link from a foreign page
// could sign its reader in as somebody else. A program that only checks the address does not use up the code.
func (s *signInService) login(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	from := r.Header.Get("Sec-Fetch-Site")
	looks := r.Method != http.MethodGet || strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch")
	if looks || from != "" && from != "none" && from != "same-origin" {
		s.identity.pages.Refuse(w, r, fmt.Errorf("copy this address into the address bar of your browser; it does not work as a link on another page: %w", queue.ErrForbidden))
		return
	}
	shown, uid, ok := s.identity.browsers.begin(r.URL.Query().Get("code"))
	if !ok {
		s.identity.unauthenticated(w, r, "this address was used before or has expired")
		return
	}
	name, _, _ := s.identity.names.of(uid)
	s.log.Info("a browser has begun a session", "user", cmp.Or(name, numbered(uid)))
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: shown, Path: "/", MaxAge: int(sessionLasts.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

// logout ends the session of a browser.
func (s *signInService) logout(w http.ResponseWriter, r *http.Request) {
	for _, c := range r.CookiesNamed(cookieName(r)) {
		s.identity.browsers.end(c.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	w.Header().Set("Cache-Control", "no-store")
	s.identity.unauthenticated(w, r, "you have signed out")
}
