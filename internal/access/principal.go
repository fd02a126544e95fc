package access

import "slices"

// Kind is the kind of a principal.
type Kind string

// The kinds of principals.
const (
	Nobody  Kind = ""        // nothing says who asks
	User    Kind = "user"    // a user of this machine
	Node    Kind = "node"    // an agent or a bridge, on a machine of its own
	Service Kind = "service" // a program with a token of its own
)

// How it is known who asks.
const (
	BySocket      = "socket"      // the system says who is at the other end of the connection
	BySession     = "session"     // the browser shows a session, which began with a code from the socket
	ByCertificate = "certificate" // the connection shows a certificate that the cluster issued
	ByToken       = "token"       // the request shows a token
	ByNothing     = "unknown"
)

// Principal is who asks.
type Principal struct {
	Kind Kind
	Name string
	UID  int // on this machine; -1 if it is no user of it
	// Groups are all groups of the user. The primary one is the first.
	Groups []string
	// Via is how it is known.
	Via string
	// Credential names the session, the certificate or the token for the record. It is no secret.
	Credential string
	// Scopes are the uses of the credential; nil: all rights of the principal.
	Scopes []string
	// Pools are where the credential is good, with the pools below; nil: everywhere.
	Pools []string
	// Admin is set if the principal may do everything. A server sets it from the configuration, and ignores the word of an
	// authenticator.
	Admin bool
}

// Unknown is somebody of whom nothing is known.
func Unknown() Principal { return Principal{UID: -1, Via: ByNothing} }

// Known reports whether something says who asks.
func (p *Principal) Known() bool { return p.Kind != Nobody }

// Group is the primary group; "" if there is none.
func (p *Principal) Group() string {
	if len(p.Groups) == 0 {
		return ""
	}
	return p.Groups[0]
}

// In reports whether the principal is in a group.
func (p *Principal) In(group string) bool { return slices.Contains(p.Groups, group) }

// Owns reports whether the principal is a user with this name.
func (p *Principal) Owns(user string) bool { return p.Kind == User && p.UID >= 0 && p.Name == user }
