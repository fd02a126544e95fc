package server

import (
	"net"
	"net/http"
	"strings"
)

// kept sets headers that make browsers trust the declared type of every answer, and that keep answers for programs out
// of caches. Pages and their parts set their own cache times.
func kept(h http.Header, path string) {
	h.Set("X-Content-Type-Options", "nosniff")
	if strings.HasPrefix(path, "/v1/") || path == "/metrics" || path == "/healthz" || path == "/readyz" {
		h.Set("Cache-Control", "no-store")
	}
}

// checkHost refuses requests for names other than this machine's own, so that a web page cannot reach the server under
// a name that it made point here.
func checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip := net.ParseIP(host)
		// Other machines use the names in the certificate, and present their own certificates; browsers have none.
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

// soon is after how many seconds to retry if the database is away, the server ends, or a user has reached a limit.
const soon = "5"

// WriteHeader sends the status. If the status asks the client to retry, and the handler did not set the time,
// WriteHeader adds the time.
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
