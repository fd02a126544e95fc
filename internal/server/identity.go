package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/api"
)

// actor is who asks.
type actor struct {
	api.Actor
	group string
}

type actorKey struct{}

// How it is known who asks.
const (
	bySocket  = "socket"  // the system says who is at the other end of the connection
	bySession = "session" // the browser shows a session, which began with a code from the socket
	byNothing = "unknown"
)

var nobody = actor{Actor: api.Actor{UID: -1, By: byNothing}}

// identified finds out who asks: on the socket from the connection, elsewhere from the session that
// a browser shows. Nothing else in a request can change that, and neither does the port from which
// it comes: a port may have another owner by the time at which it is looked up.
func (s *Server) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		c, _ := ctx.Value(connKey{}).(*conn)
		if _, known := ctx.Value(actorKey{}).(actor); known || c == nil {
			next.ServeHTTP(w, r)
			return
		}
		if c.socket {
			next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, actorKey{}, s.actorOf(c.uid, bySocket))))
			return
		}
		cookie, err := r.Cookie(cookieName(r))
		if err != nil {
			next.ServeHTTP(w, r)
			return
		}
		session, done := s.browsers.use(cookie.Value)
		if session == nil {
			next.ServeHTTP(w, r)
			return
		}
		defer done()
		if err := c.claim(session.uid); err != nil {
			w.Header().Set("Connection", "close")
			api.WriteBusy(w, fmt.Sprintf("too many connections: %v; close some pages", err))
			return
		}
		ctx, cancel := context.WithCancel(context.WithValue(ctx, actorKey{}, s.actorOf(session.uid, bySession)))
		defer cancel()
		defer context.AfterFunc(session.ctx, cancel)() // a stream ends with its session
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// knownOnly refuses whoever is not known, but for what the configuration shows to all.
func (s *Server) knownOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who(r.Context()).UID < 0 && !s.open(r) {
			s.unauthenticated(w, r, "nothing says who you are")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// open reports whether everybody may ask for something who can connect.
func (s *Server) open(r *http.Request) bool {
	switch path := r.URL.Path; {
	case path == "/healthz" || path == "/readyz" || path == "/login" || path == "/logout":
		return true
	case strings.HasPrefix(path, "/assets/") || strings.HasPrefix(path, "/openapi"):
		return true
	case path == "/metrics":
		return s.options.Anonymous == config.SeeMetrics || s.options.Anonymous == config.SeeAll
	}
	return s.options.Anonymous == config.SeeAll && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// actorOf names a user. The user under whom the server runs, and root, may do
// everything.
func (s *Server) actorOf(uid int, by string) actor {
	name, group := s.names.of(uid)
	return actor{Actor: api.Actor{UID: uid, User: name, By: by, Admin: privileged(uid)}, group: group}
}

// who is the actor behind a request.
func who(ctx context.Context) actor {
	a, ok := ctx.Value(actorKey{}).(actor)
	if !ok {
		return nobody
	}
	return a
}

// verb is what somebody wants to do.
type verb string

const (
	doOutput verb = "read the output of the job"
	doSubmit verb = "submit jobs"
	doAlter  verb = "change the job"
	doAgent  verb = "run an agent"
	doNodes  verb = "change nodes"
	doShares verb = "change shares"
)

// shown is a job as the actor may see it: that it is there and what it asks for is
// everybody's business, who share with it; its environment and data are its owner's.
func shown(a actor, j *fairlead.Job) api.Job {
	out := api.FromJob(j)
	if !a.Admin && (a.UID < 0 || a.User != j.User) {
		out.Env, out.Payload, out.Args = nil, nil, nil
	}
	return out
}

// checkWords refuses what somebody says of a job or a node if it could be mistaken where
// others read it. The rule is that of names.
func checkWords(field, text string) error {
	switch {
	case len(text) > fairlead.MaxName:
		return &fairlead.Invalid{Field: field, Msg: fmt.Sprintf("is longer than %d bytes", fairlead.MaxName)}
	case !utf8.ValidString(text):
		return &fairlead.Invalid{Field: field, Msg: "is not valid UTF-8"}
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return &fairlead.Invalid{Field: field, Msg: fmt.Sprintf("holds a control character: %.60q", text)}
	}
	return nil
}

// checkNice lets only administrators put a job before others.
func checkNice(a actor, nice int) error {
	if nice < 0 && !a.Admin {
		return fmt.Errorf("only administrators may be less nice than 0, got %d: %w", nice, fairlead.ErrForbidden)
	}
	return nil
}

// check says whether the actor may do something to what belongs to owner. What is
// not allowed here is forbidden.
func check(a actor, v verb, owner string) error {
	switch {
	case a.Admin:
		return nil
	case a.UID < 0:
		return fmt.Errorf("you may not %s: nothing says who you are; use the server's socket, or fairlead dashboard in a browser: %w", v, fairlead.ErrForbidden)
	case (v == doSubmit || v == doAlter || v == doOutput) && owner == a.User:
		return nil
	case v == doAlter || v == doOutput:
		return fmt.Errorf("you (%s) may not %s: it belongs to %s: %w", a.User, v, owner, fairlead.ErrForbidden)
	}
	return fmt.Errorf("you (%s) may not %s: %w", a.User, v, fairlead.ErrForbidden)
}
