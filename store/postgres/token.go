package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

var _ token.Keeper = (*tokens)(nil)

// tokens is the part of a store that keeps tokens.
type tokens struct {
	db     *database
	writer *writer
}

// AddToken implements token.Keeper.
func (s *tokens) AddToken(ctx context.Context, k token.Token, lasts time.Duration) (*token.Token, error) {
	scopes, pools, err := token.Lists(&k)
	if err != nil {
		return nil, err
	}
	added := false
	err = s.writer.do(ctx, func(t *tx) error {
		added = false
		k.Made, k.Expires = t.trip.now, t.trip.now.Add(lasts)
		t.trip.ask(`INSERT INTO @.token (id, hash, owner, uid, scopes, pools, note, maker, made, expires)
			SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
			WHERE (SELECT count(*) FROM @.token WHERE uid = $4 AND revoked = 0 AND expires > $9) < $11 RETURNING true`,
			func(r pgx.Rows) error { return r.Scan(&added) }, k.ID, k.Hash, k.Owner, k.UID, scopes, pools, k.Note, k.By,
			life.Nanos(k.Made), life.Nanos(k.Expires), token.MaxPerOwner)
		return t.trip.do()
	})
	if err == nil && !added {
		err = token.TooMany(k.Owner)
	}
	if err != nil {
		return nil, err
	}
	return &k, nil
}

// Tokens implements token.Keeper.
func (s *tokens) Tokens(ctx context.Context, ids ...string) (out []token.Token, err error) {
	err = s.db.query(ctx, `SELECT id, hash, owner, uid, scopes, pools, note, maker, made, expires, used, revoked
		FROM @.token WHERE $1::text[] IS NULL OR id = ANY ($1) ORDER BY id`, func(r pgx.Rows) error {
		var k token.Token
		var scopes, pools string
		var made, expires, used, revoked int64
		err := r.Scan(&k.ID, &k.Hash, &k.Owner, &k.UID, &scopes, &pools, &k.Note, &k.By, &made, &expires, &used, &revoked)
		if err != nil {
			return err
		}
		k.Made, k.Expires = life.Instant(made), life.Instant(expires)
		k.Used, k.Revoked = life.Instant(used), life.Instant(revoked)
		if err := json.Unmarshal([]byte(scopes), &k.Scopes); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(pools), &k.Pools); err != nil {
			return err
		}
		out = append(out, k)
		return nil
	}, ids)
	return out, err
}

// UsedToken implements token.Keeper.
func (s *tokens) UsedToken(ctx context.Context, id string) error {
	return s.changeToken(ctx, id, `UPDATE @.token SET used = $1 WHERE id = $2 RETURNING true`)
}

// RevokeToken implements token.Keeper.
func (s *tokens) RevokeToken(ctx context.Context, id string) error {
	return s.changeToken(ctx, id,
		`UPDATE @.token SET revoked = CASE revoked WHEN 0 THEN $1 ELSE revoked END WHERE id = $2 RETURNING true`)
}

// changeToken runs a statement that takes the time and the id.
func (s *tokens) changeToken(ctx context.Context, id, statement string) error {
	known := false
	err := s.writer.do(ctx, func(t *tx) error {
		known = false
		t.trip.ask(statement, func(r pgx.Rows) error { return r.Scan(&known) }, life.Nanos(t.trip.now), id)
		return t.trip.do()
	})
	if err == nil && !known {
		return queue.ErrNotFound
	}
	return err
}
