package access

import (
	"context"
	"net"
	"net/http"
)

// Authenticator finds out who sends a request, from the connection or from what the request shows. Each listener has
// one, so that no connection can choose how it is looked at.
type Authenticator interface {
	// Authenticate returns what the request shows. Without a proof and without an error nobody is known:
	// the server answers only requests that everybody may send. With an error it refuses the request.
	Authenticate(c net.Conn, r *http.Request) (*Proof, error)
}

// Proof is what a request has shown.
type Proof struct {
	Principal Principal
	// Ends is done when the credential is no longer good: long answers end then. Nil: they end with the connection.
	Ends context.Context
	// Done is called when the request has been answered; it may be nil.
	Done func()
}
