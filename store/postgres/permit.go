package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/permit"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

var _ permit.Keeper = (*Store)(nil)

// Permit implements permit.Keeper.
func (s *Store) Permit(ctx context.Context, p permit.Permit, k permit.Token) error {
	bounds, err := json.Marshal(p.Bounds)
	if err != nil {
		return err
	}
	return s.writer.do(ctx, func(t *tx) error {
		now := t.trip.now
		t.trip.queue(`INSERT INTO @.permit (node, bounds, maker, made) VALUES ($1, $2, $3, $4)
			ON CONFLICT (node) DO UPDATE SET bounds = excluded.bounds, maker = excluded.maker, made = excluded.made`,
			p.Node, string(bounds), p.By, life.Nanos(now))
		t.trip.queue(`DELETE FROM @.join_token WHERE until <= $1`, life.Nanos(now))
		t.trip.queue(`INSERT INTO @.join_token (id, hash, node, until) VALUES ($1, $2, $3, $4)`,
			k.ID, k.Hash, p.Node, life.Nanos(now.Add(k.Lasts)))
		return nil
	})
}

// Redeem implements permit.Keeper.
func (s *Store) Redeem(ctx context.Context, id, hash, node, key string) (out *permit.Permit, err error) {
	var bad error
	err = s.writer.do(ctx, func(t *tx) error {
		out, bad = nil, nil
		now, taken := life.Nanos(t.trip.now), false
		t.trip.ask(`UPDATE @.join_token SET used = $1
			WHERE id = $2 AND hash = $3 AND node = $4 AND until > $5 AND used IN ('', $1) RETURNING true`,
			func(r pgx.Rows) error { return r.Scan(&taken) }, key, id, hash, node, now)
		if err := t.trip.do(); err != nil {
			return err
		}
		if !taken {
			bad, err = t.badToken(id, hash, node)
			return err
		}
		t.trip.ask(`UPDATE @.permit SET key = $1, joined = $2, revoked = 0 WHERE node = $3 RETURNING `+permitColumns,
			func(r pgx.Rows) error {
				p, err := scanPermit(r)
				out = &p
				return err
			}, key, now, node)
		return t.trip.do()
	})
	if err == nil {
		err = bad
	}
	return out, err
}

// badToken says why a token is not accepted.
func (t *tx) badToken(id, hash, node string) (why, err error) {
	var known, right, expired bool
	of := ""
	t.trip.ask(`SELECT true, hash = $1, until <= $2, node FROM @.join_token WHERE id = $3`,
		func(r pgx.Rows) error { return r.Scan(&known, &right, &expired, &of) }, hash, life.Nanos(t.trip.now), id)
	err = t.trip.do()
	return permit.Bad(known, right, expired, node, of), err
}

// Revoke implements permit.Keeper. It informs the other servers through the key of a setting.
func (s *Store) Revoke(ctx context.Context, node string) error {
	known := false
	err := s.writer.do(ctx, func(t *tx) error {
		known = false
		t.trip.ask(`UPDATE @.permit SET key = '', revoked = $1 WHERE node = $2 RETURNING true`,
			func(r pgx.Rows) error { return r.Scan(&known) }, life.Nanos(t.trip.now), node)
		t.trip.queue(`DELETE FROM @.join_token WHERE node = $1`, node)
		t.report(queue.Change{What: queue.Changed, Reason: permit.Changed})
		return t.trip.do()
	})
	if err == nil && !known {
		return queue.ErrNotFound
	}
	return err
}

const permitColumns = `node, bounds, key, maker, made, joined, revoked`

// Permits implements permit.Keeper.
func (s *Store) Permits(ctx context.Context, nodes ...string) (out []permit.Permit, err error) {
	err = s.db.query(ctx, `SELECT `+permitColumns+` FROM @.permit
		WHERE $1::text[] IS NULL OR node = ANY ($1) ORDER BY node`,
		func(r pgx.Rows) error {
			p, err := scanPermit(r)
			out = append(out, p)
			return err
		}, nodes)
	return out, err
}

func scanPermit(r pgx.Rows) (p permit.Permit, err error) {
	var bounds string
	var made, joined, revoked int64
	if err := r.Scan(&p.Node, &bounds, &p.Key, &p.By, &made, &joined, &revoked); err != nil {
		return p, err
	}
	p.Made, p.Joined, p.Revoked = life.Instant(made), life.Instant(joined), life.Instant(revoked)
	return p, json.Unmarshal([]byte(bounds), &p.Bounds)
}
