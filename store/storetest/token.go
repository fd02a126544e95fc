package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/queue"
)

// tokens returns the store as a keeper of tokens.
func (s *suite) tokens() token.Keeper {
	s.t.Helper()
	k, is := s.Store.(token.Keeper)
	if !is {
		s.t.Skip("the store keeps no tokens")
	}
	return k
}

// tokensAreKept: a token is stored with all its fields but the secret, and is valid until it expires or is revoked.
func tokensAreKept(s *suite) {
	k := s.tokens()
	text, id, hash := token.New()
	made := time.Now()
	t, err := k.AddToken(s.ctx, token.Token{
		ID: id, Hash: hash, Owner: "ann", UID: 1001, Scopes: []string{token.Submit, "run:mail"},
		Pools: []string{"web"}, Note: "the shop", By: "root",
	}, time.Hour)
	s.must(err)
	if !t.Made.Equal(made) || !t.Expires.Equal(made.Add(time.Hour)) {
		s.t.Errorf("made %v, expires %v", t.Made, t.Expires)
	}
	_, other, _ := token.New()
	bobs := token.Token{ID: other, Hash: "x", Owner: "bob", UID: 1002, Scopes: []string{token.Read}}
	_, err = k.AddToken(s.ctx, bobs, time.Hour)
	s.must(err)
	got, err := k.Tokens(s.ctx, id, "none")
	s.must(err)
	if len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(*t) {
		s.t.Errorf("kept %+v\n want %+v", got, *t)
	}
	byID := func(a, b token.Token) int { return strings.Compare(a.ID, b.ID) }
	if all, err := k.Tokens(s.ctx); err != nil || len(all) != 2 || !slices.IsSortedFunc(all, byID) {
		s.t.Errorf("all: %v, %v", all, err)
	}
	shown, secret, err := token.Split(text)
	if s.must(err); shown != id {
		s.t.Errorf("the id in %q is %q, want %q", text, shown, id)
	}
	s.countsOnly(k, id, secret, nil)
	s.countsOnly(k, id, "x", token.ErrUnauthenticated)
	time.Sleep(time.Minute)
	s.must(k.UsedToken(s.ctx, id))
	if got, _ := k.Tokens(s.ctx, id); len(got) != 1 || !got[0].Used.Equal(made.Add(time.Minute)) {
		s.t.Errorf("used: %+v", got)
	}
	s.must(k.RevokeToken(s.ctx, id))
	s.countsOnly(k, id, secret, token.ErrUnauthenticated)
	time.Sleep(time.Minute)
	s.must(k.RevokeToken(s.ctx, id))
	if got, _ := k.Tokens(s.ctx, id); len(got) != 1 || !got[0].Revoked.Equal(made.Add(time.Minute)) {
		s.t.Errorf("revoked twice: %+v", got)
	}
	for what, err := range map[string]error{"use": k.UsedToken(s.ctx, "none"), "revoke": k.RevokeToken(s.ctx, "none")} {
		if !errors.Is(err, queue.ErrNotFound) {
			s.t.Errorf("%s an unknown token: %v", what, err)
		}
	}
	time.Sleep(time.Hour)
	s.countsOnly(k, other, "x", token.ErrUnauthenticated)
}

func (s *suite) countsOnly(k token.Keeper, id, hash string, want error) {
	s.t.Helper()
	got, err := k.Tokens(s.ctx, id)
	if s.must(err); len(got) != 1 {
		s.t.Fatalf("%d tokens %s", len(got), id)
	}
	if err := got[0].Check(hash, time.Now()); !errors.Is(err, want) {
		s.t.Errorf("the token counts: %v, want %v", err, want)
	}
}

// tokensAreBounded: an owner's number of valid tokens is bounded; revoked and expired ones do not count.
func tokensAreBounded(s *suite) {
	k := s.tokens()
	add := func(lasts time.Duration) (string, error) {
		_, id, hash := token.New()
		t := token.Token{ID: id, Hash: hash, Owner: "ann", UID: 1001, Scopes: []string{token.Read}}
		_, err := k.AddToken(s.ctx, t, lasts)
		return id, err
	}
	last := ""
	for i := range token.MaxPerOwner {
		lasts := time.Hour
		if i == 0 {
			lasts = time.Minute
		}
		id, err := add(lasts)
		s.must(err)
		last = id
	}
	for _, free := range []func(){
		func() { time.Sleep(time.Minute) },
		func() { s.must(k.RevokeToken(s.ctx, last)) },
	} {
		if _, err := add(time.Hour); !errors.Is(err, queue.ErrState) {
			s.t.Errorf("one too many: %v", err)
		}
		free()
		_, err := add(time.Hour)
		s.must(err)
	}
}
