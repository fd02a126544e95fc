package server

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// protect wraps all requests: it refuses those that a web page of somebody else could
// send through a user's browser, keeps a failure from taking the server down, and
// logs.
func (s *Server) protect(next http.Handler) http.Handler {
	inner := s.checkOrigin(s.checkHost(s.knownOnly(next)))
	return s.identified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
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
			if rec.status >= 500 {
				level = slog.LevelError
			}
			s.log.Log(r.Context(), level, "request", "method", r.Method, "path", r.URL.Path, "status", rec.status, "took", time.Since(began), "user", who(r.Context()).User)
			s.metrics.request(r.Pattern, rec.status, time.Since(began))
		}()
		inner.ServeHTTP(rec, r)
	}))
}

// checkOrigin refuses what changes something and comes from a page of another site. Browsers say by
// Sec-Fetch-Site whether it does, but not to a proxy that speaks http: then the origin of the page
// has to be one that the configuration names. What the proxy says of itself is not asked, as a name that
// somebody makes point to the proxy would be told as well. Where the browser does say it, a
// name in the configuration changes nothing.
func (s *Server) checkOrigin(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := r.Header.Get("Sec-Fetch-Site") == "" && slices.Contains(s.options.Origins, r.Header.Get("Origin"))
		if err := cross.Check(r); err != nil && !known {
			s.log.Warn("refused what a page of another site sent", "path", r.URL.Path, "origin", r.Header.Get("Origin"), "host", r.Host)
			s.pages.Refuse(w, r, fmt.Errorf("this comes from a page of %.200q, which is not where this server is; if that is its proxy, name it as server.origins in the configuration: %w", r.Header.Get("Origin"), fairlead.ErrForbidden))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkHost refuses requests for other names than this machine's own, so that a web
// page cannot reach the server under a name that it made point here.
func (s *Server) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip := net.ParseIP(host)
		if host != "localhost" && host != "" && host != "fairlead" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "unknown host "+host, http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// recorder notes the status of an answer, and gives each part of it time to be sent.
type recorder struct {
	http.ResponseWriter
	to     *http.ResponseController
	status int
	own    bool // the handler sets the deadlines itself
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.extend()
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush sends what was written so far, for live events.
func (r *recorder) Flush() {
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
