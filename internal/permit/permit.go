// Package permit says which nodes on other machines may join, what they may offer, and which key each of them
// has. A [Keeper], which each store is, keeps that. Certificates say only whose key it is: all rights are
// here, so that a change counts at once.
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

// ErrUnauthenticated says that nothing good was shown: no certificate that counts, or a join token that does not.
var ErrUnauthenticated = errors.New("not authenticated")

// Changed is the key of a setting. A store says that this setting changed when it revoked a node, so that the other
// servers on it look whom they serve.
const Changed = "permits"

// Permit is what a node may do.
type Permit struct {
	Node string `json:"node"`
	Bounds
	// Key is the hash of the key that the node has shown. Certificates for another key do not count.
	Key     string    `json:"key,omitempty" doc:"SHA-256 of the node's public key; absent if it may not connect"`
	By      string    `json:"by" doc:"Who permitted it"`
	Made    time.Time `json:"made"`
	Joined  time.Time `json:"joined,omitzero" doc:"When it showed its join token"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// Bounds are the most that a node may offer. A bound that is empty is none.
type Bounds struct {
	Capacity map[string]int64  `json:"capacity,omitempty" doc:"The most of each resource; others are not bounded"`
	Labels   map[string]string `json:"labels,omitempty" doc:"If any: the only ones, besides arch, os and host"`
}

// automatic are the labels that each agent has by itself.
var automatic = []string{"arch", "os", "host"}

// Check refuses an offer beyond the bounds.
func (b *Bounds) Check(capacity map[string]int64, labels map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(capacity)) {
		if most, bound := b.Capacity[name]; bound && capacity[name] > most {
			return fmt.Errorf("the node offers %d of %.40q and is permitted %d; "+
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

// Token lets a node join once. The secret itself is not kept.
type Token struct {
	ID    string
	Hash  string // of the secret
	Lasts time.Duration
}

// Keeper keeps permits and tokens. Its methods are transactions.
type Keeper interface {
	// Permit permits a node, with a token for it. A node that has joined already keeps its key until the token is
	// used; the bounds count when its agent joins next.
	Permit(ctx context.Context, p Permit, t Token) error
	// Redeem notes that a node with a key showed the secret of a token, and returns its permit. A token
	// counts until its time is over, once: for the key that showed it first. Any other one fails
	// with [ErrUnauthenticated], and the one of another node with [queue.ErrForbidden].
	Redeem(ctx context.Context, id, hash, node, key string) (*Permit, error)
	// Revoke takes away the key and the tokens of a node. It fails with [queue.ErrNotFound] if there is no
	// permit for it.
	Revoke(ctx context.Context, node string) error
	// Permits returns those of the named nodes, or all, by their names.
	Permits(ctx context.Context, nodes ...string) ([]Permit, error)
}

// Of returns the permit of a node if the node has the key.
func Of(ctx context.Context, k Keeper, node, key string) (*Permit, error) {
	all, err := k.Permits(ctx, node)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, fmt.Errorf("no node %.80q is permitted: %w", node, ErrUnauthenticated)
	case !all[0].Revoked.IsZero():
		return nil, fmt.Errorf("node %s was revoked; it needs a new join token: %w", node, ErrUnauthenticated)
	case all[0].Key == "" || all[0].Key != key:
		return nil, fmt.Errorf("node %s has joined with another key: %w", node, ErrUnauthenticated)
	}
	return &all[0], nil
}

// Bad is why a token does not count.
func Bad(known, right, expired bool, node, of string) error {
	switch {
	case !known || !right:
		return fmt.Errorf("there is no such join token: %w", ErrUnauthenticated)
	case node != of:
		return fmt.Errorf("the join token is for node %s, not for %.80q: %w", of, node, queue.ErrForbidden)
	case expired:
		return fmt.Errorf("the time of the join token is over; ask for a new one: %w", ErrUnauthenticated)
	}
	return fmt.Errorf("the join token was used before; ask for a new one: %w", ErrUnauthenticated)
}
