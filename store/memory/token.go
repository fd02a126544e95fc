package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/queue"
)

// tokens is the part of a store that keeps tokens.
type tokens struct {
	lock   func(context.Context) (time.Time, error)
	unlock func()
	kept   map[string]token.Token
}

// AddToken implements token.Keeper.
func (k *tokens) AddToken(ctx context.Context, t token.Token, lasts time.Duration) (*token.Token, error) {
	now, err := k.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer k.unlock()
	n := 0
	for _, other := range k.kept {
		if other.UID == t.UID && other.Counts(now) {
			n++
		}
	}
	if n >= token.MaxPerOwner {
		return nil, token.TooMany(t.Owner)
	}
	t.Made, t.Expires = now, now.Add(lasts)
	t.Scopes, t.Pools = slices.Clone(t.Scopes), slices.Clone(t.Pools)
	k.kept[t.ID] = t
	return &t, nil
}

// Tokens implements token.Keeper.
func (k *tokens) Tokens(ctx context.Context, ids ...string) (out []token.Token, err error) {
	if _, err := k.lock(ctx); err != nil {
		return nil, err
	}
	defer k.unlock()
	for _, id := range slices.Sorted(maps.Keys(k.kept)) {
		if len(ids) == 0 || slices.Contains(ids, id) {
			out = append(out, k.kept[id])
		}
	}
	return out, nil
}

// UsedToken implements token.Keeper.
func (k *tokens) UsedToken(ctx context.Context, id string) error {
	return k.change(ctx, id, func(t *token.Token, now time.Time) { t.Used = now })
}

// RevokeToken implements token.Keeper.
func (k *tokens) RevokeToken(ctx context.Context, id string) error {
	return k.change(ctx, id, func(t *token.Token, now time.Time) {
		if t.Revoked.IsZero() {
			t.Revoked = now
		}
	})
}

func (k *tokens) change(ctx context.Context, id string, change func(*token.Token, time.Time)) error {
	now, err := k.lock(ctx)
	if err != nil {
		return err
	}
	defer k.unlock()
	t, known := k.kept[id]
	if !known {
		return queue.ErrNotFound
	}
	change(&t, now)
	k.kept[id] = t
	return nil
}
