package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/internal/wait"
)

const (
	// tokenLasts is how long the server trusts what the store said about a token. A token revoked at another server of
	// the same database works here for that time; one revoked here ends at once.
	tokenLasts = 5 * time.Second
	// usedEvery is how often the store records the use of a token.
	usedEvery = 5 * time.Minute
	// maxTokens limits how many tokens are cached.
	maxTokens = 10_000
)

// bearers authenticates programs by their tokens.
type bearers struct {
	keeper token.Keeper // nil: the store keeps no tokens
	names  *names

	mu    sync.Mutex
	known map[string]*bearer
}

// bearer is a cached token from the store.
type bearer struct {
	token token.Token
	until time.Time // the store is asked again then
	noted time.Time // when its use was last recorded
	users int       // unanswered requests with this token
	ends  context.Context
	end   context.CancelFunc
}

func newBearers(store any, n *names) *bearers {
	keeper, _ := store.(token.Keeper)
	return &bearers{keeper: keeper, names: n, known: map[string]*bearer{}}
}

// bearing is an authenticator that accepts tokens as well.
type bearing struct {
	access.Authenticator
	bearers *bearers
}

// Authenticate looks for a token. Without one it uses the authenticator of the listener.
func (a bearing) Authenticate(c net.Conn, r *http.Request) (*access.Proof, error) {
	if text, shown := shownToken(r); shown {
		return a.bearers.proof(r.Context(), text)
	}
	return a.Authenticator.Authenticate(c, r)
}

// proof returns the owner of a token as the principal, with the limits of the token.
func (b *bearers) proof(ctx context.Context, text string) (*access.Proof, error) {
	id, hash, err := token.Split(text)
	if err != nil {
		return nil, err
	}
	t, err := b.look(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := t.Check(hash, time.Now()); err != nil {
		return nil, err
	}
	p, err := b.names.principal(t.UID, access.ByToken)
	if err != nil {
		return nil, err
	}
	if p.Name != t.Owner {
		return nil, fmt.Errorf("the token %s was made for %s, whose uid %d now belongs to %s: %w",
			id, t.Owner, t.UID, p.Name, token.ErrUnauthenticated)
	}
	p.Credential, p.Scopes, p.Pools = id, t.Scopes, t.Pools
	ends, done, noted := b.begin(id)
	if ends == nil {
		return nil, token.Unknown() // the token was revoked just now
	}
	if noted {
		_ = b.keeper.UsedToken(ctx, id) // if this fails, a use in some minutes is recorded
	}
	return &access.Proof{Principal: p, Ends: ends, Done: done}, nil
}

// look returns a token as the store knows it. It does not cache invalid tokens, because strangers could fill the
// memory with them.
func (b *bearers) look(ctx context.Context, id string) (t token.Token, err error) {
	if b.keeper == nil {
		return t, token.Unknown()
	}
	now := time.Now()
	b.mu.Lock()
	k := b.known[id]
	if k != nil && now.Before(k.until) {
		defer b.mu.Unlock()
		return k.token, nil
	}
	b.mu.Unlock()
	all, err := b.keeper.Tokens(ctx, id)
	if err != nil {
		return t, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(all) == 0 || !all[0].Counts(now) {
		b.drop(id)
		if len(all) == 0 {
			return t, token.Unknown()
		}
		return all[0], nil
	}
	b.remember(all[0], now)
	return all[0], nil
}

// remember caches what the store said about a token. The caller holds the lock.
func (b *bearers) remember(t token.Token, now time.Time) {
	k := b.known[t.ID]
	if k == nil {
		if len(b.known) >= maxTokens {
			b.forget()
		}
		k = &bearer{noted: t.Used}
		k.ends, k.end = context.WithDeadline(context.Background(), t.Expires)
		b.known[t.ID] = k
	}
	k.token, k.until = t, now.Add(tokenLasts)
}

// begin registers a request that presents a token; the returned function ends the request. The flag "noted" says that
// the use must be recorded.
func (b *bearers) begin(id string) (ends context.Context, done func(), noted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.known[id]
	if k == nil {
		return nil, nil, false
	}
	now := time.Now()
	if noted = now.Sub(k.noted) >= usedEvery; noted {
		k.noted = now
	}
	k.users++
	return k.ends, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		k.users--
	}, noted
}

// drop removes a token from the cache, and ends the answers to its bearers. The caller holds the lock.
func (b *bearers) drop(id string) {
	if k := b.known[id]; k != nil {
		k.end()
		delete(b.known, id)
	}
}

// forget removes the tokens without requests from the cache, or all tokens if each has requests. Then the answers to
// their bearers end, and the server asks the store again. The caller holds the lock.
func (b *bearers) forget() {
	for id, k := range b.known {
		if k.users == 0 {
			b.drop(id)
		}
	}
	if len(b.known) >= maxTokens {
		for id := range b.known {
			b.drop(id)
		}
	}
}

// revoked ends a token on this server at once.
func (b *bearers) revoked(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(id)
}

// watch asks the store now and then about the tokens of long answers, until ctx ends, so that these answers end when
// another server has revoked a token.
func (b *bearers) watch(ctx context.Context) {
	for wait.For(ctx, tokenLasts) {
		for _, id := range b.shown() {
			_, _ = b.look(ctx, id) // while the store is away, the cached answer counts
		}
	}
}

// shown returns the tokens with unanswered requests that must be checked with the store. It drops expired ones without
// requests.
func (b *bearers) shown() (ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, k := range b.known {
		switch {
		case time.Now().Before(k.until):
		case k.users > 0:
			ids = append(ids, id)
		default:
			b.drop(id)
		}
	}
	return ids
}
