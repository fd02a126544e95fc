package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/queue"
)

// permits returns the store as a keeper of permits.
func (s *suite) permits() permit.Keeper {
	s.t.Helper()
	k, is := s.Store.(permit.Keeper)
	if !is {
		s.t.Skip("the store keeps no permits")
	}
	return k
}

// nodesArePermitted: permits are stored with their bounds; redeeming a token adds a key, and revoking the node removes
// it.
func nodesArePermitted(s *suite) {
	k := s.permits()
	bounds := permit.Bounds{Capacity: map[string]int64{"cpu": 8}, Labels: map[string]string{"rack": "b"}}
	token := func(id, hash string) permit.Token { return permit.Token{ID: id, Hash: hash, Lasts: time.Hour} }
	s.must(k.Permit(s.ctx, permit.Permit{Node: "n2", By: "ann"}, token("t2", "h2")))
	s.must(k.Permit(s.ctx, permit.Permit{Node: "n1", By: "ann", Bounds: bounds}, token("t1", "h1")))
	made := time.Now()
	all, err := k.Permits(s.ctx)
	s.must(err)
	if len(all) != 2 || all[0].Node != "n1" || all[1].Node != "n2" || all[0].By != "ann" || !all[0].Made.Equal(made) ||
		!maps.Equal(all[0].Capacity, bounds.Capacity) || !maps.Equal(all[0].Labels, bounds.Labels) {
		s.t.Fatalf("permits %+v", all)
	}
	if _, err := permit.Of(s.ctx, k, "n1", ""); !errors.Is(err, permit.ErrUnauthenticated) {
		s.t.Errorf("before it joins: %v", err)
	}
	time.Sleep(time.Minute)
	p, err := k.Redeem(s.ctx, "t1", "h1", "n1", "key")
	s.must(err)
	if p.Node != "n1" || p.Key != "key" || !p.Joined.Equal(made.Add(time.Minute)) || p.Capacity["cpu"] != 8 {
		s.t.Errorf("redeemed %+v", p)
	}
	unknown := permit.ErrUnauthenticated
	for key, want := range map[string]error{"key": nil, "other": unknown, "": unknown} {
		if _, err := permit.Of(s.ctx, k, "n1", key); !errors.Is(err, want) {
			s.t.Errorf("with the key %q: %v, want %v", key, err, want)
		}
	}
	s.must(k.Permit(s.ctx, permit.Permit{Node: "n1", By: "bob"}, token("t3", "h3")))
	if p, err := permit.Of(s.ctx, k, "n1", "key"); err != nil || len(p.Capacity) != 0 || p.By != "bob" {
		s.t.Errorf("with other bounds: %+v, %v", p, err)
	}
	s.must(k.Revoke(s.ctx, "n1"))
	if _, err := permit.Of(s.ctx, k, "n1", "key"); !errors.Is(err, permit.ErrUnauthenticated) {
		s.t.Errorf("revoked: %v", err)
	}
	some, err := k.Permits(s.ctx, "n1", "n3")
	if err != nil || len(some) != 1 || some[0].Revoked.IsZero() || some[0].Key != "" {
		s.t.Errorf("revoked: %+v, %v", some, err)
	}
	for _, x := range [][2]string{{"t1", "h1"}, {"t3", "h3"}} {
		if _, err := k.Redeem(s.ctx, x[0], x[1], "n1", "key"); !errors.Is(err, permit.ErrUnauthenticated) {
			s.t.Errorf("%s after the node was revoked: %v", x[0], err)
		}
	}
	if err := k.Revoke(s.ctx, "n3"); !errors.Is(err, queue.ErrNotFound) {
		s.t.Errorf("revoke an unknown node: %v", err)
	}
	s.must(k.Permit(s.ctx, permit.Permit{Node: "n1"}, token("t4", "h4")))
	if p, err := k.Redeem(s.ctx, "t4", "h4", "n1", "new"); err != nil || !p.Revoked.IsZero() || p.Key != "new" {
		s.t.Errorf("after it was revoked, with a new token: %+v, %v", p, err)
	}
}

// joinTokensCountOnce: of many nodes that use a token at once, only one is admitted. No node is admitted after the
// token has expired, or with another name or secret.
func joinTokensCountOnce(s *suite) {
	k := s.permits()
	add := func(id string) {
		s.must(k.Permit(s.ctx, permit.Permit{Node: "n1"}, permit.Token{ID: id, Hash: "hash", Lasts: time.Hour}))
	}
	add("a")
	for _, c := range []struct {
		id, hash, node string
		want           error
	}{
		{"a", "other", "n1", permit.ErrUnauthenticated},
		{"b", "hash", "n1", permit.ErrUnauthenticated},
		{"a", "other", "n2", permit.ErrUnauthenticated},
		{"a", "hash", "n2", queue.ErrForbidden},
	} {
		if _, err := k.Redeem(s.ctx, c.id, c.hash, c.node, "key"); !errors.Is(err, c.want) {
			s.t.Errorf("%v: %v", c, err)
		}
	}
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { _, errs[i] = k.Redeem(s.ctx, "a", "hash", "n1", fmt.Sprint("key", i)) })
	}
	all.Wait()
	winner := slices.Index(errs, nil)
	if winner < 0 || slices.Contains(errs[winner+1:], nil) {
		s.t.Fatalf("of %d at once got in: %v", len(errs), errs)
	}
	for i, err := range errs {
		if i != winner && !errors.Is(err, permit.ErrUnauthenticated) {
			s.t.Errorf("at once: %v", err)
		}
	}
	// A node may repeat the call, because the answer may have been lost.
	if _, err := k.Redeem(s.ctx, "a", "hash", "n1", fmt.Sprint("key", winner)); err != nil {
		s.t.Errorf("the same key again: %v", err)
	}
	add("late")
	time.Sleep(time.Hour)
	if _, err := k.Redeem(s.ctx, "late", "hash", "n1", "key"); !errors.Is(err, permit.ErrUnauthenticated) {
		s.t.Errorf("after its time: %v", err)
	}
}
