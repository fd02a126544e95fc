package server

import (
	"net"
	"net/http"
	"strings"
)

// kept says of every answer that it is of the type that it says, and of those for programs that nobody
// on the way keeps them. Pages and their parts say for themselves for how long they may be kept.
func kept(h http.Header, path string) {
	h.Set("X-Content-Type-Options", "nosniff")
	if strings.HasPrefix(path, "/v1/") || path == "/metrics" || path == "/healthz" || path == "/readyz" {
		h.Set("Cache-Control", "no-store")
	}
}

// checkHost refuses requests for other names than this machine's own, so that a web
// page cannot reach the server under a name that it made point here.
func checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip := net.ParseIP(host)
		// Other machines use the names of the certificate, and show their own; a browser has none.
		if fromOutside(r.Context()) {
			next.ServeHTTP(w, r)
			return
		}
		if host != "localhost" && host != "" && host != "fairlead" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "unknown host "+host, http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// soon is after how many seconds one may ask again who got no answer because the database is away,
// or the server ends, or who has as much as one user may have.
const soon = "5"

// WriteHeader sends the status. Whoever is told to come again is told when, whichever handler says
// so.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	if h := r.Header(); (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) && h.Get("Retry-After") == "" {
		h.Set("Retry-After", soon)
	}
	r.extend()
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush sends the data written so far, for live events.
func (r *recorder) Flush() {
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
