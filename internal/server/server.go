// Package server offers a loop over HTTP: the JSON interface under /v1 with its
// OpenAPI document, live events, metrics and health, and the sessions of agents. Who
// asks is known from the connection, or from the session of a browser. What happens to jobs is the
// loop's part.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/quota"
	"github.com/fairlead/fairlead/internal/tracing"
	"github.com/fairlead/fairlead/internal/web"
)

// Options are what a server needs.
type Options struct {
	Loop    *fairlead.Loop
	Store   fairlead.Store
	Program string // version of the program
	// StoreName says where the jobs are kept, for people.
	StoreName string
	// Database is the file of the jobs, if there is one: doctor looks at its disk and who may
	// read it.
	Database string
	// Anonymous is what whoever connects over TCP without a session may see; see package config.
	Anonymous string
	// Origins are where pages of the dashboard come from that a proxy passes on.
	Origins []string
	// Config keeps the configuration in force; nil if nobody can change it.
	Config Configuration
	Logger *slog.Logger
	// Tracer tells a collector what becomes of jobs; nil if nobody wants to know.
	Tracer *tracing.Tracer
}

// Server answers requests.
type Server struct {
	options Options
	log     *slog.Logger
	started time.Time
	agents  agents
	bridged bridged
	doctors doctors
	// admitting lets one bridge at a time be compared with the ledger that is kept.
	admitting sync.Mutex
	metrics   *metrics
	pages     *web.Dashboard
	handler   http.Handler

	gate     *gate
	names    *names
	browsers *browsers
	streams  quota.Quota // of those who follow the events

	mu     sync.Mutex
	listen []string
	web    []string // those for browsers
}

// readTime is how long a request may take to arrive. How long its answer takes is another matter:
// see deadline.go.
const readTime = 30 * time.Second

// maxBody bounds a request, in bytes. Submissions of many jobs may be larger.
const (
	maxBody   = 1 << 20
	maxSubmit = 16 << 20
)

// New returns a server for a loop that runs elsewhere.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Config == nil {
		o.Config = fixed{}
	}
	s := &Server{options: o, log: o.Logger, started: time.Now(), names: newNames(), browsers: newBrowsers()}
	s.streams = quota.Quota{All: mostStreams, Reserved: mostStreams / 8, User: mostStreams / 8}
	s.gate = newGate(limitsHere(), s.turnedAway())
	s.agents.sessions, s.agents.replies = map[string]*session{}, map[string]chan api.LogReply{}
	s.metrics = newMetrics(o.Loop)
	var observer fairlead.Observer = s.metrics.life
	if o.Tracer != nil {
		observer = both{observer, o.Tracer}
	}
	o.Loop.Observe(hearsLost{observer, &s.bridged})
	s.handler = s.routes()
	return s
}

// OpenAPI is the document that describes the interface.
func (s *Server) OpenAPI() ([]byte, error) { return s.api(http.NewServeMux()).OpenAPI().MarshalJSON() }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	s.api(mux)
	mux.Handle("GET /metrics", s.metrics.handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	s.pages = web.New(source{s}, s.options.Program, s.log)
	s.pages.Register(mux)
	return s.protect(mux)
}

func (s *Server) api(mux *http.ServeMux) huma.API {
	config := huma.DefaultConfig("fairlead", cmp.Or(s.options.Program, "dev"))
	config.DocsPath = ""
	config.SchemasPath = "" // no link to a schema in every answer
	config.CreateHooks = nil
	config.Components.Schemas = registry()
	config.Info.Description = "A fair-share job scheduler and queue: submit jobs, ask why they wait, offer machines."
	a := humago.New(mux, config)
	s.jobRoutes(a)
	s.whyRoutes(a)
	s.clusterRoutes(a)
	s.doctorRoutes(a)
	s.boostRoutes(a)
	s.pauseRoutes(a)
	s.reserveRoutes(a)
	s.usageRoutes(a)
	s.reportRoutes(a)
	s.historyRoutes(a)
	s.configRoutes(a)
	s.schedulingRoutes(a)
	s.agentRoutes(a)
	s.logRoutes(a)
	s.eventRoutes(a)
	s.signInRoutes(a)
	return a
}

// ready says whether the store answers.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if _, err := s.options.Store.Jobs(ctx, fairlead.Query{Limit: 1, Newest: true}); err != nil {
		text := "the store does not answer"
		if who(ctx).UID >= 0 {
			text += ": " + err.Error()
		}
		http.Error(w, text, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// Serve answers on the listeners until ctx ends, and then finishes what it has begun.
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
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		s.mu.Lock()
		s.listen = append(s.listen, l.Addr().String())
		if l.Addr().Network() == "tcp" {
			s.web = append(s.web, l.Addr().String())
		}
		s.mu.Unlock()
		go func() { failed <- h.Serve(gated{l, s.gate}) }()
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

// handle registers an operation whose errors are told by the table of package api.
func handle[I, O any](a huma.API, method, path, id, summary string, maxBytes int64, f func(context.Context, *I) (*O, error)) {
	op := huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, MaxBodyBytes: maxBytes, Tags: []string{tag(path)}}
	if maxBytes == 0 {
		op.MaxBodyBytes = maxBody
	}
	huma.Register(a, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := f(ctx, in)
		if err != nil {
			return nil, problem(err)
		}
		return out, nil
	})
}

func tag(path string) string {
	switch {
	case len(path) >= 9 && path[:9] == "/v1/agent":
		return "agents"
	case len(path) >= 8 && path[:8] == "/v1/jobs":
		return "jobs"
	}
	return "cluster"
}

// body is an answer with a body and nothing else.
type body[T any] struct{ Body T }

func answer[T any](v T) *body[T] { return &body[T]{v} }
