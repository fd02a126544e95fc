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

// identity finds out who sends a request, and refuses unknown senders.
type identity struct {
	loop      *engine.Loop
	names     *names
	browsers  *browsers
	pages     *web.Dashboard                        // which say how to sign in
	anonymous string                                // what unknown senders may see
	refused   func(*http.Request, access.Principal) // called with requests that a node may not send
	bearers   *bearers
}

// identified finds out the sender. If the listener has an authenticator of its own, that decides. Otherwise, a sender
// on the socket is identified by the connection, and any other sender by the session of a browser. Nothing else in a
// request counts, and neither does the port of the client, because it may have another owner by the time of a look-up.
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
			defer context.AfterFunc(proof.Ends, cancel)() // so that a stream ends with its session
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// administers reports whether a principal may do everything: root, the user who runs the server, and those whom the
// configuration names.
func (s *identity) administers(p *access.Principal) bool {
	return p.Kind == access.User && (privileged(p.UID) || s.loop.Client().Shares.Load().Access.Administers(p))
}

// authenticator returns the authenticator of the listener of a connection.
func (s *identity) authenticator(c *conn) access.Authenticator {
	switch {
	case c.by != nil:
		return bearing{c.by, s.bearers}
	case c.socket:
		return bearing{peers{s.names}, s.bearers}
	}
	return sessions{s.names, s.browsers, s.administers}
}

// knownOnly refuses unknown senders, requests of nodes beyond their own agents, and read requests without the right to
// look, except for what all may see. Requests that change something are checked where their object is known.
func (s *identity) knownOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if me := who(r.Context()); !s.open(r) {
			if !me.Known() {
				s.refuse(w, r, fmt.Errorf("the server does not know who you are: %w", permit.ErrUnauthenticated))
				return
			}
			if me.Kind == access.Node && !ofNode(me, r) {
				s.refused(r, me)
				s.refuse(w, r, fmt.Errorf("node %s may act for its own agent only: %w", me.Name, queue.ErrForbidden))
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

// open reports whether everybody who can connect may send a request.
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

// refuse answers why a request is refused: with the status of the error, or with 401 if it has none, because nothing
// valid was presented. Other machines have no browsers, and get no advice for them.
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

// unauthenticated answers that only known users may do this, and how to sign in.
func (s *identity) unauthenticated(w http.ResponseWriter, r *http.Request, why string) {
	w.Header().Set("WWW-Authenticate", "Session")
	s.pages.Deny(w, r, http.StatusUnauthorized, &api.Error{Code: api.CodeUnauthenticated, Detail: why + ". To open the dashboard, run `fairlead dashboard` on the server's machine, and open the address that it prints. Programs use the server's socket."})
}

// who returns the principal that sent a request.
func who(ctx context.Context) access.Principal {
	p, ok := ctx.Value(principalKey{}).(access.Principal)
	if !ok {
		return access.Unknown()
	}
	return p
}

// actorOf converts a principal for the interface.
func actorOf(p access.Principal) api.Actor {
	out := api.Actor{
		User: p.Name, UID: p.UID, Admin: p.Admin, By: p.Via, OnlyLooks: p.Via == access.BySession && p.Scopes != nil,
	}
	if !out.OnlyLooks && !p.AdminUntil.IsZero() {
		out.AdminUntil = &p.AdminUntil
	}
	return out
}

// shown converts a job for the actor. Everybody may see that it exists and what it asks for, because all share with it;
// only its owner sees its environment and data.
func shown(a access.Principal, j *queue.Job) api.Job {
	out := api.FromJob(j)
	mine := a.Admin || a.Owns(j.User)
	if !mine || a.CheckScope(access.Output) != nil || a.CheckCredential(access.Output, j.Pool) != nil {
		out.Env, out.Payload, out.Args = nil, nil, nil
	}
	return out
}

// checkWords refuses text about a job or a node that readers could mistake for something else. The rule is that of
// names.
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

// check returns nil if the sender may do something to an object, by the current rules.
func check(ctx context.Context, loop *engine.Loop, v access.Verb, o access.Object) error {
	me := who(ctx)
	return loop.Client().Shares.Load().Access.Check(&me, v, o)
}

// checkNice refuses to let anybody but administrators put a job before others.
func checkNice(ctx context.Context, loop *engine.Loop, nice int) error {
	if nice >= 0 {
		return nil
	}
	return check(ctx, loop, access.Overtake, access.Object{})
}
