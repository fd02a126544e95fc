package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/queue"
)

var _ permit.Keeper = (*permits)(nil)

// permits holds the permits of nodes, and the tokens with which they join.
type permits struct {
	mu     sync.Mutex
	nodes  map[string]permit.Permit
	tokens map[string]*joinToken
}

type joinToken struct {
	permit.Token
	node, used string
	until      time.Time
}

func newPermits() *permits {
	return &permits{nodes: map[string]permit.Permit{}, tokens: map[string]*joinToken{}}
}

// Permit implements permit.Keeper.
func (s *permits) Permit(ctx context.Context, p permit.Permit, k permit.Token) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.nodes[p.Node]
	p.Key, p.Joined, p.Revoked, p.Made = before.Key, before.Joined, before.Revoked, now
	s.nodes[p.Node] = p
	maps.DeleteFunc(s.tokens, func(_ string, t *joinToken) bool { return !now.Before(t.until) })
	s.tokens[k.ID] = &joinToken{k, p.Node, "", now.Add(k.Lasts)}
	return nil
}

// Redeem implements permit.Keeper.
func (s *permits) Redeem(ctx context.Context, id, hash, node, key string) (*permit.Permit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens[id]
	if t == nil {
		return nil, permit.Bad(false, false, false, node, "")
	}
	right, expired := t.Hash == hash, !now.Before(t.until)
	if !right || expired || t.node != node || t.used != "" && t.used != key {
		return nil, permit.Bad(true, right, expired, node, t.node)
	}
	t.used = key
	p := s.nodes[node]
	p.Key, p.Joined, p.Revoked = key, now, time.Time{}
	s.nodes[node] = p
	return &p, nil
}

// Revoke implements permit.Keeper.
func (s *permits) Revoke(ctx context.Context, node string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	p, known := s.nodes[node]
	if !known {
		return queue.ErrNotFound
	}
	p.Key, p.Revoked = "", now
	s.nodes[node] = p
	maps.DeleteFunc(s.tokens, func(_ string, t *joinToken) bool { return t.node == node })
	return nil
}

// Permits implements permit.Keeper.
func (s *permits) Permits(ctx context.Context, nodes ...string) (out []permit.Permit, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		if len(nodes) == 0 || slices.Contains(nodes, name) {
			out = append(out, s.nodes[name])
		}
	}
	return out, nil
}
