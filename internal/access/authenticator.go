package access

import (
	"context"
	"net"
	"net/http"
)

// Authenticator finds out who sends a request, from the connection or from the credential in the request. Each listener
// has one, so that a connection cannot choose how it is authenticated.
type Authenticator interface {
	// Authenticate returns the proof of a request. Without a proof or an error the sender is unknown, and the server
	// answers only requests that everybody may send. On an error it refuses the request.
	Authenticate(c net.Conn, r *http.Request) (*Proof, error)
}

// Proof is what a request proves about its sender.
type Proof struct {
	Principal Principal
	// Ends is done when the credential is no longer valid; then long answers end. If it is nil, they end with the
	// connection.
	Ends context.Context
	// Done is called when the request has been answered; it may be nil.
	Done func()
}
