package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead/fairlead/config"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
)

type principalKey struct{}

// identity knows who asks, and turns away who is not known.
type identity struct {
	loop      *engine.Loop
	names     *names
	browsers  *browsers
	pages     *web.Dashboard                        // which say how to become known
	anonymous string                                // what those may see who are not
	refused   func(*http.Request, access.Principal) // hears of requests that a node may not send
	bearers   *bearers
}

// identified finds out who asks, by the authenticator of the listener: on the socket from the connection, elsewhere
// from the session that a browser shows, unless the listener has an authenticator of its own. Nothing else in a
// request can change that, and neither does the port from which it comes: a port may have another owner by the time
// at which it is looked up.
func (s *identity) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		c, _ := ctx.Value(connKey{}).(*conn)
		if _, known := ctx.Value(principalKey{}).(access.Principal); known || c == nil {
			next.ServeHTTP(w, r)
			return
		}
		proof, err := s.authenticator(c).Authenticate(c.Conn, r)
		if err != nil {
			w.Header().Set("Connection", "close")
			s.refuse(w, r, err)
			return
		}
		if proof == nil {
			next.ServeHTTP(w, r)
			return
		}
		if proof.Done != nil {
			defer proof.Done()
		}
		p := proof.Principal
		p.Admin = s.administers(&p)
		if err := c.claim(&p); err != nil {
			w.Header().Set("Connection", "close")
			api.WriteBusy(w, fmt.Sprintf("too many connections: %v; close some pages", err))
			return
		}
		ctx, cancel := context.WithCancel(context.WithValue(ctx, principalKey{}, p))
		defer cancel()
		if proof.Ends != nil {
			defer context.AfterFunc(proof.Ends, cancel)() // a stream ends with its session
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// administers reports whether a principal may do everything: root, the user under whom the server runs, and whoever
// the configuration names.
func (s *identity) administers(p *access.Principal) bool {
	return p.Kind == access.User && (privileged(p.UID) || s.loop.Client().Shares.Load().Access.Administers(p))
}

// authenticator is that of the listener from which a connection came.
func (s *identity) authenticator(c *conn) access.Authenticator {
	switch {
	case c.by != nil:
		return bearing{c.by, s.bearers}
	case c.socket:
		return bearing{peers{s.names}, s.bearers}
	}
	return sessions{s.names, s.browsers, s.administers}
}

// knownOnly refuses requests of somebody who is not known, and requests that only look by somebody who may not, but for
// what the configuration shows to all. Requests that change something are checked where their object is known.
func (s *identity) knownOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if me := who(r.Context()); !s.open(r) {
			if !me.Known() {
				s.refuse(w, r, fmt.Errorf("nothing says who you are: %w", permit.ErrUnauthenticated))
				return
			}
			if me.Kind == access.Node && !ofNode(me, r) {
				s.refused(r, me)
				s.refuse(w, r, fmt.Errorf("node %s may speak for its own agent only: %w", me.Name, queue.ErrForbidden))
				return
			}
			looks := r.Method == http.MethodGet || r.Method == http.MethodHead
			if err := check(r.Context(), s.loop, access.Look, access.Object{}); looks && err != nil {
				s.pages.Refuse(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// open reports whether everybody may ask for something who can connect.
func (s *identity) open(r *http.Request) bool {
	switch path := r.URL.Path; {
	case fromOutside(r.Context()):
		return strings.HasPrefix(path, clusterPath)
	case path == "/healthz" || path == "/readyz" || path == "/login" || path == "/logout":
		return true
	case strings.HasPrefix(path, "/assets/") || strings.HasPrefix(path, "/openapi"):
		return true
	case path == "/metrics":
		return s.anonymous == config.SeeMetrics || s.anonymous == config.SeeAll
	}
	return s.anonymous == config.SeeAll && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// refuse says why somebody is not answered: with the status of the error, or, where that has none, because nothing good
// was shown. Other machines have no browsers, and need no advice for them.
func (s *identity) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, e := api.Status(err), api.FromError(err)
	if status == http.StatusInternalServerError {
		status, e.Code = http.StatusUnauthorized, api.CodeUnauthenticated
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", soon)
	}
	if fromOutside(r.Context()) || status != http.StatusUnauthorized {
		api.WriteProblem(w, status, e)
		return
	}
	s.unauthenticated(w, r, strings.TrimSuffix(err.Error(), ": "+permit.ErrUnauthenticated.Error()))
}

// unauthenticated says that something is for those who are known, and how to become so.
func (s *identity) unauthenticated(w http.ResponseWriter, r *http.Request, why string) {
	w.Header().Set("WWW-Authenticate", "Session")
	s.pages.Deny(w, r, http.StatusUnauthorized, &api.Error{Code: api.CodeUnauthenticated, Detail: why + ". To open the dashboard, run `fairlead dashboard` on the server's machine, and open the address that it prints. Programs use the server's socket."})
}

// who is the principal behind a request.
func who(ctx context.Context) access.Principal {
	p, ok := ctx.Value(principalKey{}).(access.Principal)
	if !ok {
		return access.Unknown()
	}
	return p
}

// actorOf is a principal as the interface shows it.
func actorOf(p access.Principal) api.Actor {
	return api.Actor{
		User: p.Name, UID: p.UID, Admin: p.Admin, By: p.Via, OnlyLooks: p.Via == access.BySession && p.Scopes != nil,
	}
}

// shown is a job as the actor may see it: that it is there and what it asks for is
// everybody's business, who share with it; its environment and data are its owner's.
func shown(a access.Principal, j *queue.Job) api.Job {
	out := api.FromJob(j)
	mine := a.Admin || a.Owns(j.User)
	if !mine || a.CheckScope(access.Output) != nil || a.CheckCredential(access.Output, j.Pool) != nil {
		out.Env, out.Payload, out.Args = nil, nil, nil
	}
	return out
}

// checkWords refuses what somebody says of a job or a node if it could be mistaken where
// others read it. The rule is that of names.
func checkWords(field, text string) error {
	switch {
	case len(text) > queue.MaxName:
		return &queue.Invalid{Field: field, Msg: fmt.Sprintf("is longer than %d bytes", queue.MaxName)}
	case !utf8.ValidString(text):
		return &queue.Invalid{Field: field, Msg: "is not valid UTF-8"}
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return &queue.Invalid{Field: field, Msg: fmt.Sprintf("holds a control character: %.60q", text)}
	}
	return nil
}

// check says whether the one who asks may do something to an object, by the rules in force.
func check(ctx context.Context, loop *engine.Loop, v access.Verb, o access.Object) error {
	me := who(ctx)
	return loop.Client().Shares.Load().Access.Check(&me, v, o)
}

// checkNice lets only administrators put a job before others.
func checkNice(ctx context.Context, loop *engine.Loop, nice int) error {
	if nice >= 0 {
		return nil
	}
	return check(ctx, loop, access.Overtake, access.Object{})
}
