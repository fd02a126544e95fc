package access

import (
	"slices"
	"time"
)

// Kind is the kind of a principal.
type Kind string

// The kinds of principals.
const (
	Nobody  Kind = ""        // the sender is unknown
	User    Kind = "user"    // a user of this machine
	Node    Kind = "node"    // an agent or a bridge, on a machine of its own
	Service Kind = "service" // a program with a token of its own
)

// How a principal is known.
const (
	BySocket      = "socket"      // the system identifies the other end of the connection
	BySession     = "session"     // the browser presents a session, which began with a code from the socket
	ByCertificate = "certificate" // the connection presents a certificate of the cluster
	ByToken       = "token"       // the request presents a token
	ByNothing     = "unknown"
)

// Principal is the sender of a request.
type Principal struct {
	Kind Kind
	Name string
	UID  int // on this machine; -1 if it is not a user of the machine
	// Groups lists all groups of the user, the primary one first.
	Groups []string
	// Via says how the principal is known.
	Via string
	// Credential identifies the session, the certificate or the token in the record. It is not secret.
	Credential string
	// Scopes limits what the credential allows; nil means all rights of the principal.
	Scopes []string
	// Pools limits the credential to these pools and the pools below; nil means everywhere.
	Pools []string
	// Admin says that the principal may do everything. The server sets it from the configuration, and ignores the value
	// of an authenticator.
	Admin bool
	// AdminUntil is when a session of a browser becomes read-only; zero if it does not.
	AdminUntil time.Time
}

// Unknown returns the principal of an unknown sender.
func Unknown() Principal { return Principal{UID: -1, Via: ByNothing} }

// Known reports whether the sender is known.
func (p *Principal) Known() bool { return p.Kind != Nobody }

// Group returns the primary group, or "" if there is none.
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
