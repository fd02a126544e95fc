package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// namesFormat is the first format in which the pools of users have their present names.
const namesFormat = 4

// rename gives the pools of users their new names, while the schema is upgraded to that format. Other writers of jobs
// wait until it has ended; it waits for writers that have begun.
func rename(ctx context.Context, db *database, t pgx.Tx) error {
	r := renamer{db: db, ctx: ctx, t: t}
	if err := r.exec(`LOCK TABLE @.job, @.ended, @.pool, @.delta, @.setting, @.history IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		return err
	}
	var now int64
	if err := t.QueryRow(ctx, `SELECT `+nowText, db.now()).Scan(&now); err != nil {
		return err
	}
	r.now = life.Instant(now)
	if err := poolnames.Migrate(&r, r.now); err != nil {
		return fmt.Errorf("give the pools of users their new names: %w", err)
	}
	return nil
}

// renamer implements poolnames.Store.
type renamer struct {
	db  *database
	ctx context.Context
	t   pgx.Tx
	now time.Time
}

func (r *renamer) exec(sql string, args ...any) error {
	_, err := r.t.Exec(r.ctx, r.db.sql(sql), args...)
	return err
}

func (r *renamer) query(sql string, scan func(pgx.Rows) error, args ...any) error {
	return r.db.rows(r.ctx, r.t, sql, scan, args...)
}

// Pools implements poolnames.Store.
func (r *renamer) Pools() (paths []string, err error) {
	err = r.query(`SELECT path FROM @.pool`, func(rows pgx.Rows) error {
		var path string
		err := rows.Scan(&path)
		paths = append(paths, path)
		return err
	})
	return paths, err
}

// Holdings implements poolnames.Store.
func (r *renamer) Holdings() (all []poolnames.Holding, err error) {
	err = r.query(`SELECT path, username, sum(idle), sum(busy) FROM (
			SELECT pool, username, count(*) FILTER (WHERE coalesce(running, 0) = 0) AS idle, count(*) FILTER (WHERE running > 0) AS busy FROM @.job GROUP BY 1, 2
			UNION ALL SELECT pool, username, 0, 0 FROM @.ended GROUP BY 1, 2
		) AS j JOIN @.pool AS p ON p.id = j.pool GROUP BY path, username`, func(rows pgx.Rows) error {
		var h poolnames.Holding
		err := rows.Scan(&h.Pool, &h.User, &h.Idle, &h.Busy)
		all = append(all, h)
		return err
	})
	return all, err
}

// Alone implements poolnames.Store. A server of an earlier version would still place jobs by the old names, and in the
// pools that it knows by number.
func (r *renamer) Alone() error {
	var others []string
	err := r.query(`SELECT name FROM @.server WHERE until > $1 ORDER BY name`, func(rows pgx.Rows) error {
		var name string
		err := rows.Scan(&name)
		others = append(others, name)
		return err
	}, life.Nanos(r.now))
	if err == nil && len(others) > 0 {
		err = fmt.Errorf("servers of an earlier version use the database (%s): stop all of them before you start this one",
			strings.Join(others, ", "))
	}
	return err
}

// Rename implements poolnames.Store. It deletes the history of a former pool with the new name, if there is one.
func (r *renamer) Rename(from, to string) error {
	if err := r.exec(`DELETE FROM @.history WHERE pool = $1`, to); err != nil {
		return err
	}
	if err := r.exec(`UPDATE @.history SET pool = $2 WHERE pool = $1`, from, to); err != nil {
		return err
	}
	return r.exec(`UPDATE @.pool SET path = $2 WHERE path = $1`, from, to)
}

// Move implements poolnames.Store. Counts of other servers that are not in the pools' rows yet are added later, as
// usual.
func (r *renamer) Move(user, from, to string) error {
	if err := r.exec(`INSERT INTO @.pool (path, since, maker) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, to,
		life.Nanos(r.now), user); err != nil {
		return err
	}
	moved := life.AlterEvent(&queue.Job{Pool: from},
		queue.Alteration{Verb: queue.VerbMove, Pool: to, Cause: poolnames.Cause}, r.now)
	return r.exec(`WITH p AS (SELECT (SELECT id FROM @.pool WHERE path = $2) AS was, (SELECT id FROM @.pool WHERE path = $3) AS is),
		moved AS (UPDATE @.job AS j SET pool = p.is FROM p WHERE j.pool = p.was AND j.username = $1 AND coalesce(j.running, 0) = 0 RETURNING j.id, j.waiting),
		n AS (SELECT coalesce(sum(waiting), 0) AS waiting FROM moved),
		noted AS (INSERT INTO @.event (job, task, at, code, text) SELECT id, -1, $4, $5, $6 FROM moved)
		UPDATE @.pool AS q SET waiting = q.waiting + CASE q.id WHEN p.is THEN n.waiting ELSE -n.waiting END FROM p, n WHERE q.id IN (p.was, p.is)`,
		user, from, to, life.Nanos(moved.At), moved.Code, moved.Text)
}

// Settings implements poolnames.Store.
func (r *renamer) Settings() (map[string]string, error) {
	out := map[string]string{}
	err := r.query(`SELECT key, value FROM @.setting`, func(rows pgx.Rows) error {
		var key, value string
		err := rows.Scan(&key, &value)
		out[key] = value
		return err
	})
	return out, err
}

// Set implements poolnames.Store.
func (r *renamer) Set(key, value string) error {
	if value == "" {
		return r.exec(`DELETE FROM @.setting WHERE key = $1`, key)
	}
	return r.exec(`INSERT INTO @.setting (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
}

// Audit implements poolnames.Store.
func (r *renamer) Audit(e poolnames.Entry) error {
	return r.exec(`INSERT INTO @.audit (at, who, source, what, subject, old, new, refused, note) VALUES ($1, 'fairlead', 'upgrade', $2, $3, $3, $4, false, $5)`,
		life.Nanos(r.now), e.What, e.Subject, e.New, e.Note)
}
