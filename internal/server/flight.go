package server

import (
	"fmt"
	"io"
	"net/http"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/quota"
)

// flightPart is how many bytes of a body count as one unit. The first unit of each request is free, because connections
// are limited.
const flightPart = 32 << 10

// newFlight limits the bytes of bodies that the server holds at once: 256 MiB in all, 32 MiB of one user, which is two
// of the largest requests.
func newFlight() *quota.Quota {
	return &quota.Quota{All: 256 << 20 / flightPart, Reserved: 64 << 20 / flightPart, User: 32 << 20 / flightPart}
}

// inFlight limits the bytes of unanswered requests of one sender. Otherwise a user who begins many requests and then
// falls silent could make the server hold as much data as the user's connections can carry.
func inFlight(q *quota.Quota, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		me := who(r.Context())
		body := &flying{ReadCloser: r.Body, quota: q, by: holderOf(&me), free: me.Admin || me.Kind == access.Node}
		defer body.land()
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// flying is the body of an unanswered request.
type flying struct {
	io.ReadCloser
	quota *quota.Quota
	by    int
	free  bool // the limit per user does not apply
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

// land returns the bytes of the request to the quota.
func (f *flying) land() {
	for ; f.taken > 0; f.taken-- {
		f.quota.Give(f.by)
	}
}
