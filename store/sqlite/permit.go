package sqlite

import (
	"context"
	"encoding/json"
	"slices"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/queue"
)

var _ permit.Keeper = (*Store)(nil)

// Permit implements permit.Keeper.
func (s *Store) Permit(ctx context.Context, p permit.Permit, k permit.Token) error {
	bounds, err := json.Marshal(p.Bounds)
	if err != nil {
		return err
	}
	return s.write(ctx, true, func(t *tx) error {
		b := binder{stmt: t.conn.Prep(`INSERT INTO permit (node, bounds, maker, made) VALUES (?, ?, ?, ?)
			ON CONFLICT (node) DO UPDATE SET bounds = excluded.bounds, maker = excluded.maker, made = excluded.made`)}
		if err := exec(b.text(p.Node).text(string(bounds)).text(p.By).times(t.now).stmt); err != nil {
			return err
		}
		b = binder{stmt: t.conn.Prep(`DELETE FROM join_token WHERE until <= ?`)}
		if err := exec(b.times(t.now).stmt); err != nil {
			return err
		}
		b = binder{stmt: t.conn.Prep(`INSERT INTO join_token (id, hash, node, until) VALUES (?, ?, ?, ?)`)}
		return exec(b.text(k.ID).text(k.Hash).text(p.Node).times(t.now.Add(k.Lasts)).stmt)
	})
}

// Redeem implements permit.Keeper.
func (s *Store) Redeem(ctx context.Context, id, hash, node, key string) (out *permit.Permit, err error) {
	var bad error
	err = s.write(ctx, false, func(t *tx) error {
		out, bad = nil, nil
		b := binder{stmt: t.conn.Prep(`UPDATE join_token SET used = ?1
			WHERE id = ?2 AND hash = ?3 AND node = ?4 AND until > ?5 AND used IN ('', ?1)`)}
		if err := exec(b.text(key).text(id).text(hash).text(node).times(t.now).stmt); err != nil {
			return err
		}
		if t.conn.Changes() == 0 {
			bad, err = t.badToken(id, hash, node)
			return err
		}
		b = binder{stmt: t.conn.Prep(`UPDATE permit SET key = ?, joined = ?, revoked = 0 WHERE node = ?`)}
		if err := exec(b.text(key).times(t.now).text(node).stmt); err != nil {
			return err
		}
		all, err := permits(t.conn, node)
		if err == nil {
			out = &all[0]
		}
		return err
	})
	if err == nil {
		err = bad
	}
	return out, err
}

// badToken says why a token is not accepted.
func (t *tx) badToken(id, hash, node string) (why, err error) {
	b := binder{stmt: t.conn.Prep(`SELECT hash = ?, until <= ?, node FROM join_token WHERE id = ?`)}
	var known, right, expired bool
	of := ""
	err = scanAll(b.text(hash).times(t.now).text(id).stmt, func(c *scanner) error {
		known, right, expired, of = true, c.bool(), c.bool(), c.text()
		return nil
	})
	return permit.Bad(known, right, expired, node, of), err
}

// Revoke implements permit.Keeper.
func (s *Store) Revoke(ctx context.Context, node string) error {
	var bad error
	err := s.write(ctx, false, func(t *tx) error {
		bad = nil
		b := binder{stmt: t.conn.Prep(`UPDATE permit SET key = '', revoked = ? WHERE node = ?`)}
		if err := exec(b.times(t.now).text(node).stmt); err != nil {
			return err
		}
		if t.conn.Changes() == 0 {
			bad = queue.ErrNotFound
			return nil
		}
		b = binder{stmt: t.conn.Prep(`DELETE FROM join_token WHERE node = ?`)}
		return exec(b.text(node).stmt)
	})
	if err == nil {
		err = bad
	}
	return err
}

// Permits implements permit.Keeper.
func (s *Store) Permits(ctx context.Context, nodes ...string) (out []permit.Permit, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		out, err = permits(conn, nodes...)
		return err
	})
	return out, err
}

func permits(conn *sqlite.Conn, nodes ...string) (out []permit.Permit, err error) {
	one := ""
	if len(nodes) == 1 {
		one = nodes[0]
	}
	b := binder{stmt: conn.Prep(`SELECT node, bounds, key, maker, made, joined, revoked FROM permit
		WHERE ?1 = '' OR node = ?1 ORDER BY node`)}
	err = scanAll(b.text(one).stmt, func(c *scanner) error {
		p := permit.Permit{Node: c.text()}
		bounds := c.text()
		p.Key, p.By, p.Made, p.Joined, p.Revoked = c.text(), c.text(), c.time(), c.time(), c.time()
		if len(nodes) == 0 || slices.Contains(nodes, p.Node) {
			out = append(out, p)
			return json.Unmarshal([]byte(bounds), &out[len(out)-1].Bounds)
		}
		return nil
	})
	return out, err
}
