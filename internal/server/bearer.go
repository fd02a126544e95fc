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
	// tokenLasts is how long the server believes what the store said of a token. A token counts for that time after
	// another server of the same database has revoked it; this server forgets it at once.
	tokenLasts = 5 * time.Second
	// usedEvery is how often the use of a token is noted.
	usedEvery = 5 * time.Minute
	// maxTokens bounds how many tokens are remembered.
	maxTokens = 10_000
)

// bearers are the programs that show tokens.
type bearers struct {
	keeper token.Keeper // nil: the store keeps none
	names  *names

	mu    sync.Mutex
	known map[string]*bearer
}

// bearer is a token as the store knew it a moment ago.
type bearer struct {
	token token.Token
	until time.Time // it is asked again then
	noted time.Time // when its use was written down
	users int       // requests that showed it and are not answered yet
	ends  context.Context
	end   context.CancelFunc
}

func newBearers(store any, n *names) *bearers {
	keeper, _ := store.(token.Keeper)
	return &bearers{keeper: keeper, names: n, known: map[string]*bearer{}}
}

// bearing is an authenticator that also believes tokens.
type bearing struct {
	access.Authenticator
	bearers *bearers
}

// Authenticate looks for a token. Without one it is that of the listener.
func (a bearing) Authenticate(c net.Conn, r *http.Request) (*access.Proof, error) {
	if text, shown := shownToken(r); shown {
		return a.bearers.proof(r.Context(), text)
	}
	return a.Authenticator.Authenticate(c, r)
}

// proof is who shows a token: its owner, limited as the token is.
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
		return nil, fmt.Errorf("the token %s was made for %s, and that user's uid %d is now %s's: %w",
			id, t.Owner, t.UID, p.Name, token.ErrUnauthenticated)
	}
	p.Credential, p.Scopes, p.Pools = id, t.Scopes, t.Pools
	ends, done, noted := b.begin(id)
	if ends == nil {
		return nil, token.Unknown() // it was revoked just now
	}
	if noted {
		_ = b.keeper.UsedToken(ctx, id) // a store that cannot write it now gets it in some minutes
	}
	return &access.Proof{Principal: p, Ends: ends, Done: done}, nil
}

// look is a token as the store knows it. Nothing is remembered of one that does not count, or strangers could fill the
// memory.
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

// remember keeps what the store said of a token. The caller holds the lock.
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

// begin begins a request that shows a token, until done. noted reports whether the use has to be written down.
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

// drop forgets a token, and ends the answers to whoever shows it. The caller holds the lock.
func (b *bearers) drop(id string) {
	if k := b.known[id]; k != nil {
		k.end()
		delete(b.known, id)
	}
}

// forget forgets the tokens that nobody shows now, or else all: their answers end, and they are asked for again. The
// caller holds the lock.
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

// watch asks the store now and then about the tokens to which long answers are given, until ctx ends, so that these
// answers end when another server has revoked one.
func (b *bearers) watch(ctx context.Context) {
	for wait.For(ctx, tokenLasts) {
		for _, id := range b.shown() {
			_, _ = b.look(ctx, id) // while the store is away, what it said before counts
		}
	}
}

// shown are the tokens whose bearers wait for answers, and about which the store has to be asked. It forgets tokens
// that nobody shows.
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
