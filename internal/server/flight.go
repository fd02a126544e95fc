package server

import (
	"fmt"
	"io"
	"net/http"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/quota"
)

// flightPart is how many bytes of a body the server counts as one. The first of each request is free: connections are
// bounded.
const flightPart = 32 << 10

// newFlight bounds the bytes of bodies that the server holds at once: 256 MiB, of one user 32 MiB, which is two of the
// largest requests.
func newFlight() *quota.Quota {
	return &quota.Quota{All: 256 << 20 / flightPart, Reserved: 64 << 20 / flightPart, User: 32 << 20 / flightPart}
}

// inFlight bounds the bytes that somebody has sent in requests that are not answered: a user who begins many requests
// and falls silent would otherwise have the server keep as much as the connections of one user can carry.
func inFlight(q *quota.Quota, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		me := who(r.Context())
		body := &flying{ReadCloser: r.Body, quota: q, by: holderOf(&me), free: me.Admin || me.Kind == access.Node}
		defer body.land()
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// flying is the body of a request that is not answered yet.
type flying struct {
	io.ReadCloser
	quota *quota.Quota
	by    int
	free  bool // the bound of a single user does not count
	bytes int
	taken int
}

// Read counts the bytes.
func (f *flying) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	f.bytes += n
	for f.taken < f.bytes/flightPart {
		if wrong := f.quota.Take(f.by, f.free); wrong != nil {
			return 0, fmt.Errorf("%w: %w", errLarge, wrong)
		}
		f.taken++
	}
	return n, err
}

// land gives back what the request had.
func (f *flying) land() {
	for ; f.taken > 0; f.taken-- {
		f.quota.Give(f.by)
	}
}
