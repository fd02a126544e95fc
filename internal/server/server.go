// Package server offers a loop over HTTP: the JSON interface under /v1 with its OpenAPI document, live events, metrics
// and health, and the sessions of agents. It identifies senders by the connection, or by the session of a browser. It
// does not decide about jobs; the loop does.
package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/forecast"
	"github.com/fairlead/fairlead/internal/quota"
	"github.com/fairlead/fairlead/internal/web"
	"github.com/fairlead/fairlead/queue"
)

// Server answers requests: it listens, identifies senders, and limits requests. The services make the answers.
type Server struct {
	program   string
	origins   []string // of dashboard pages behind a proxy
	log       *slog.Logger
	addresses *addresses
	gate      *gate
	identity  *identity
	services  *services
	metrics   *metrics
	pages     *web.Dashboard
	handler   http.Handler
	large     quota.Quota  // of users who send large requests
	flight    *quota.Quota // of the bytes of requests
	busy      refusals     // requests that were answered with 503
}

// readTime is how long a request may take to arrive. For its answer see deadline.go.
const readTime = 30 * time.Second

// New returns a server for a running loop.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Config == nil {
		o.Config = fixed{}
	}
	if o.Forecast == nil {
		o.Forecast = forecast.New(o.Loop)
	}
	s := &Server{program: o.Program, origins: o.Origins, log: o.Logger, addresses: &addresses{}}
	s.metrics = newMetrics(o.Loop)
	s.flight = newFlight()
	s.large = quota.Quota{All: 24, Reserved: 8, User: 2}
	limits := limitsHere()
	s.gate = newGate(limits, turnedAway(s.log))
	s.identity = &identity{loop: o.Loop, names: newNames(), browsers: newBrowsers(), anonymous: o.Anonymous}
	s.identity.bearers = newBearers(o.Store, s.identity.names)
	s.services = newServices(o, s.addresses, s.identity, s.metrics, limits)
	s.pages = web.New(sourceOf(s.services, o), s.program, s.log)
	s.identity.pages, s.identity.refused = s.pages, s.services.joins.refused
	var observer engine.Observer = s.metrics.life
	if o.Tracer != nil {
		observer = both{observer, o.Tracer}
	}
	o.Loop.Observe(hearsLost{observer, s.services.jobs.bridged})
	s.handler = s.routes()
	return s
}

// Invite returns an address that opens the dashboard as a user, once, within the time "lasts". The session of an
// administrator cannot change things. The address is empty if the server listens on none.
func (s *Server) Invite(uid int, lasts time.Duration) string {
	return s.services.signIn.invite(uid, lasts)
}

// OpenAPI returns the document that describes the interface.
func (s *Server) OpenAPI() ([]byte, error) { return s.api(http.NewServeMux()).OpenAPI().MarshalJSON() }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	s.api(mux)
	mux.Handle("GET /metrics", s.metrics.handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.services.status.ready)
	mux.HandleFunc("GET /login", s.services.signIn.login)
	mux.HandleFunc("POST /logout", s.services.signIn.logout)
	s.pages.Register(mux)
	return s.protect(mux)
}

func (s *Server) api(mux *http.ServeMux) huma.API {
	config := huma.DefaultConfig("fairlead", cmp.Or(s.program, "dev"))
	config.DocsPath = ""
	config.SchemasPath = "" // no link to a schema in every answer
	config.CreateHooks = nil
	config.Components.Schemas = registry()
	config.Info.Description = "A fair-share job scheduler and queue: submit jobs, ask why they wait, offer machines."
	a := humago.New(mux, config)
	a.UseMiddleware(finite(a), s.shaped(a))
	for _, x := range s.services.all() {
		x.routes(a)
	}
	return a
}

// Listen returns a listener on a TCP address. If the system does not grant the port now, the listener tries again while
// it is served, and Missing says why. An address that can never work is an error.
func (s *Server) Listen(address string) (*port, error) { return listenAt(address, s.log) }

// Serve answers on the listeners until ctx ends, and then finishes the requests that have begun. It identifies clients
// of a Unix socket by the connection, and others by the session of a browser, or by the authenticator of an
// [Authenticated] listener.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	h := &http.Server{
		Handler:           s.handler,
		ConnContext:       connContext,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       readTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	for _, l := range listeners {
		s.addresses.listen(l)
	}
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { s.identity.bearers.watch(watching) })
	defer watch.Wait()
	defer stop()
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		in := gated{Listener: l, gate: s.gate}
		if own, is := l.(Authenticated); is {
			in.by = own.By
		}
		go func() { failed <- h.Serve(in) }()
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if serr := h.Shutdown(shutdown); serr != nil {
		h.Close()
	}
	s.gate.close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// NodeListener returns a listener for agents and bridges on other machines. All of its connections are encrypted.
func (s *Server) NodeListener(l net.Listener) net.Listener {
	c := s.services.joins.certificates
	return Authenticated{Listener: nodeListener{l, c}, By: c}
}

// DropRevoked disconnects nodes here that were revoked at another server of the store.
func (s *Server) DropRevoked(ctx context.Context) error {
	j := s.services.joins
	if j.ready() != nil {
		return nil
	}
	connected := j.connected()
	if len(connected) == 0 {
		return nil
	}
	all, err := j.permits.Permits(ctx, connected...)
	for i := range all {
		if !all[i].Revoked.IsZero() {
			j.end(ctx, all[i].Node)
		}
	}
	return err
}

// protect wraps all requests: it refuses requests that a foreign web page could send through a user's browser, it keeps
// a panic from ending the server, and it logs.
func (s *Server) protect(next http.Handler) http.Handler {
	inner := s.checkOrigin(checkHost(s.identity.knownOnly(inFlight(s.flight, next))))
	return s.identity.identified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		ctx, failed := withFailure(r.Context())
		r = r.WithContext(ctx)
		kept(w.Header(), r.URL.Path)
		rec := record(w)
		defer rec.extend()
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				s.log.Error("request failed", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				http.Error(rec, "internal error", http.StatusInternalServerError)
			}
			level := slog.LevelDebug
			switch {
			case rec.status == http.StatusServiceUnavailable:
				s.busy.note(func(n int) {
					s.log.WarnContext(r.Context(), "requests are refused as busy or unavailable", "refused", n,
						"path", r.URL.Path, "user", who(r.Context()).Name)
				})
			case rec.status >= 500:
				level = slog.LevelError
			}
			about := []any{"method", r.Method, "path", r.URL.Path, "status", rec.status, "took", time.Since(began),
				"user", who(r.Context()).Name}
			if level == slog.LevelError && failed.err != nil {
				about = append(about, "error", failed.err)
			}
			s.log.Log(r.Context(), level, "request", about...)
			s.metrics.request(r.Pattern, rec.status, time.Since(began))
		}()
		inner.ServeHTTP(rec, r)
	}))
}

// checkOrigin refuses changes sent by a page of another site. Browsers report the site by the header Sec-Fetch-Site.
// They do not send it to a proxy that speaks http; then the configuration must name the origin of the page. The server
// does not trust what the proxy says about itself, because the proxy would also report a name that an attacker makes
// point to it. If the browser sends Sec-Fetch-Site, the configured origins change nothing.
func (s *Server) checkOrigin(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := r.Header.Get("Sec-Fetch-Site") == "" && slices.Contains(s.origins, r.Header.Get("Origin"))
		if err := cross.Check(r); err != nil && !known {
			s.log.Warn("refused a request from a page of another site", "path", r.URL.Path, "origin", r.Header.Get("Origin"), "host", r.Host)
			s.pages.Refuse(w, r, fmt.Errorf(
				"this request comes from a page of %.200q, which is not this server's address; if that is the address of "+
					"the server's proxy, add it to server.origins in the configuration: %w",
				r.Header.Get("Origin"), queue.ErrForbidden))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readBody reads a body up to a number of bytes, and one byte more if the body is longer.
func (s *Server) readBody(
	from io.Reader, most int64, a access.Principal, c *tally,
) (text []byte, done func(), err error) {
	done = func() {}
	from = io.LimitReader(from, most+1)
	var whole bytes.Buffer
	part := make([]byte, 32<<10)
	for large := false; ; {
		n, err := from.Read(part)
		if err := c.count(part[:n]); err != nil {
			return nil, done, err
		}
		whole.Write(part[:n])
		if !large && whole.Len() > largeBody {
			if err := s.large.Take(holderOf(&a), a.Admin); err != nil {
				return nil, done, fmt.Errorf("%w: %w", errLarge, err)
			}
			large, done = true, func() { s.large.Give(holderOf(&a)) }
		}
		if err == io.EOF {
			return whole.Bytes(), done, nil
		}
		if err != nil {
			return nil, done, err
		}
	}
}

// shaped refuses requests that exceed their bounds before they are decoded.
func (s *Server) shaped(a huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		from, op := ctx.BodyReader(), ctx.Operation()
		if from == nil || op.RequestBody == nil {
			next(ctx)
			return
		}
		text, done, err := s.readBody(from, op.MaxBodyBytes, who(ctx.Context()), &tally{bounds: boundsOf(op)})
		defer func() { done() }()
		var wrong tooMuch
		switch {
		case err == nil:
			next(withBody{ctx, bytes.NewReader(text)})
		case errors.Is(err, errLarge):
			ctx.SetHeader("Retry-After", "1")
			huma.WriteErr(a, ctx, http.StatusTooManyRequests, err.Error()+"; send fewer at a time, or smaller ones")
		case errors.As(err, &wrong) && wrong.parts:
			huma.WriteErr(a, ctx, http.StatusRequestEntityTooLarge, "the request "+wrong.text+"; send it in several parts")
		case errors.As(err, &wrong):
			huma.WriteErr(a, ctx, http.StatusUnprocessableEntity, "the request "+wrong.text)
		default:
			huma.WriteErr(a, ctx, http.StatusRequestTimeout, "the request did not arrive: "+err.Error())
		}
	}
}
