package server

import (
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

// protect wraps all requests: it refuses those that a web page of somebody else could
// send through a user's browser, keeps a failure from taking the server down, and
// logs.
func (s *Server) protect(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	inner := cross.Handler(s.checkHost(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
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

// recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
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
