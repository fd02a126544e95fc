// Package permit defines which nodes on other machines may join, what they may offer, and which key each of
// them has. Each store is a [Keeper] of permits. Certificates only prove the owner of a key; all rights are
// here, so that a change takes effect at once.
package permit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// ErrUnauthenticated says that a node showed neither a valid certificate nor a valid join token.
var ErrUnauthenticated = errors.New("not authenticated")

// Changed is the key of a setting. A store reports a change of this setting when it revokes a node, so that
// the other servers on it check which nodes they serve.
const Changed = "permits"

// Permit says what a node may do.
type Permit struct {
	Node string `json:"node"`
	Bounds
	// Key is the hash of the node's key. Certificates for another key are invalid.
	Key     string    `json:"key,omitempty" doc:"SHA-256 of the node's public key; absent if it may not connect"`
	By      string    `json:"by" doc:"Who permitted it"`
	Made    time.Time `json:"made"`
	Joined  time.Time `json:"joined,omitzero" doc:"When the node used its join token"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// Bounds are the most that a node may offer. An empty bound does not limit.
type Bounds struct {
	Capacity map[string]int64  `json:"capacity,omitempty" doc:"The maximum of each resource; others are unlimited"`
	Labels   map[string]string `json:"labels,omitempty" doc:"If given: the only labels allowed, besides arch, os and host"`
}

// automatic lists the labels that each agent sets by itself.
var automatic = []string{"arch", "os", "host"}

// Check refuses an offer beyond the bounds.
func (b *Bounds) Check(capacity map[string]int64, labels map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		if most, bound := b.Capacity[name]; bound && capacity[name] > most {
			return fmt.Errorf("the node offers %d of %.40q but is permitted only %d; "+
				"an administrator can change that with fairlead nodes permit: %w", capacity[name], name, most, queue.ErrForbidden)
		}
	}
	if len(b.Labels) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if value, is := b.Labels[name]; (!is || value != labels[name]) && !slices.Contains(automatic, name) {
			return fmt.Errorf("the node has the label %.40s=%.40s, which it is not permitted; "+
				"an administrator can change that with fairlead nodes permit: %w", name, labels[name], queue.ErrForbidden)
		}
	}
	return nil
}

// Token lets a node join once. The secret itself is not stored.
type Token struct {
	ID    string
	Hash  string // of the secret
	Lasts time.Duration
}

// Keeper stores permits and tokens. Its methods are transactions.
type Keeper interface {
	// Permit permits a node, with a token for it. A node that has joined already keeps its key until the
	// token is used; the bounds apply when its agent joins next.
	Permit(ctx context.Context, p Permit, t Token) error
	// Redeem records that a node with a key showed the secret of a token, and returns the node's permit. A
	// token is valid until its time is over, and only for the key that showed it first. An invalid token
	// fails with [ErrUnauthenticated], and the token of another node with [queue.ErrForbidden].
	Redeem(ctx context.Context, id, hash, node, key string) (*Permit, error)
	// Revoke removes the key and the tokens of a node. It fails with [queue.ErrNotFound] if the node has no
	// permit.
	Revoke(ctx context.Context, node string) error
	// Permits returns the permits of the named nodes, or all, ordered by name.
	Permits(ctx context.Context, nodes ...string) ([]Permit, error)
}

// Of returns the permit of a node if the node has the key.
func Of(ctx context.Context, k Keeper, node, key string) (*Permit, error) {
	all, err := k.Permits(ctx, node)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, fmt.Errorf("the node %.80q is not permitted: %w", node, ErrUnauthenticated)
	case !all[0].Revoked.IsZero():
		return nil, fmt.Errorf("node %s was revoked; it needs a new join token: %w", node, ErrUnauthenticated)
	case all[0].Key == "" || all[0].Key != key:
		return nil, fmt.Errorf("node %s has joined with another key: %w", node, ErrUnauthenticated)
	}
	return &all[0], nil
}

// Bad returns the reason why a token is invalid.
func Bad(known, right, expired bool, node, of string) error {
	switch {
	case !known || !right:
		return fmt.Errorf("there is no such join token: %w", ErrUnauthenticated)
	case node != of:
		return fmt.Errorf("the join token is for node %s, not for %.80q: %w", of, node, queue.ErrForbidden)
	case expired:
		return fmt.Errorf("the join token has expired; ask for a new one: %w", ErrUnauthenticated)
	}
	return fmt.Errorf("the join token was used before; ask for a new one: %w", ErrUnauthenticated)
}
