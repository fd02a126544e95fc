package sqlite

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/queue"
)

var _ token.Keeper = (*Store)(nil)

// AddToken implements token.Keeper.
func (s *Store) AddToken(ctx context.Context, k token.Token, lasts time.Duration) (*token.Token, error) {
	scopes, pools, err := token.Lists(&k)
	if err != nil {
		return nil, err
	}
	var bad error
	err = s.write(ctx, true, func(t *tx) error {
		bad = nil
		b := binder{stmt: t.conn.Prep(`SELECT count(*) FROM token WHERE uid = ? AND revoked = 0 AND expires > ?`)}
		n := int64(0)
		err := scanAll(b.int64(int64(k.UID)).times(t.now).stmt, func(c *scanner) error { n = c.int64(); return nil })
		if err != nil {
			return err
		}
		if n >= token.MaxPerOwner {
			bad = token.TooMany(k.Owner)
			return nil
		}
		k.Made, k.Expires = t.now, t.now.Add(lasts)
		b = binder{stmt: t.conn.Prep(`INSERT INTO token (id, hash, owner, uid, scopes, pools, note, maker, made, expires)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)}
		b.text(k.ID).text(k.Hash).text(k.Owner).int64(int64(k.UID)).text(scopes).text(pools)
		return exec(b.text(k.Note).text(k.By).times(k.Made).times(k.Expires).stmt)
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, err
	}
	return &k, nil
}

// Tokens implements token.Keeper.
func (s *Store) Tokens(ctx context.Context, ids ...string) (out []token.Token, err error) {
	one := ""
	if len(ids) == 1 {
		one = ids[0]
	}
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		b := binder{stmt: conn.Prep(`SELECT id, hash, owner, uid, scopes, pools, note, maker, made, expires, used, revoked
			FROM token WHERE ?1 = '' OR id = ?1 ORDER BY id`)}
		return scanAll(b.text(one).stmt, func(c *scanner) error {
			k := token.Token{ID: c.text(), Hash: c.text(), Owner: c.text(), UID: int(c.int64())}
			scopes, pools := c.text(), c.text()
			k.Note, k.By, k.Made, k.Expires, k.Used, k.Revoked = c.text(), c.text(), c.time(), c.time(), c.time(), c.time()
			if len(ids) > 0 && !slices.Contains(ids, k.ID) {
				return nil
			}
			if err := json.Unmarshal([]byte(scopes), &k.Scopes); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(pools), &k.Pools); err != nil {
				return err
			}
			out = append(out, k)
			return nil
		})
	})
	return out, err
}

// UsedToken implements token.Keeper.
func (s *Store) UsedToken(ctx context.Context, id string) error {
	return s.changeToken(ctx, id, `UPDATE token SET used = ? WHERE id = ?`)
}

// RevokeToken implements token.Keeper.
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	return s.changeToken(ctx, id, `UPDATE token SET revoked = CASE revoked WHEN 0 THEN ? ELSE revoked END WHERE id = ?`)
}

// changeToken runs a statement that takes the time and the id.
func (s *Store) changeToken(ctx context.Context, id, statement string) error {
	known := false
	err := s.write(ctx, true, func(t *tx) error {
		b := binder{stmt: t.conn.Prep(statement)}
		err := exec(b.times(t.now).text(id).stmt)
		known = t.conn.Changes() > 0
		return err
	})
	if err == nil && !known {
		return queue.ErrNotFound
	}
	return err
}
