package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// oldNames marks a file in which the pools of users may have names of earlier versions.
const oldNames = "old_names"

// rename gives the pools of users their new names, once, and removes the mark in the same transaction.
func rename(conn *sqlite.Conn) (err error) {
	marked := false
	if err := each(conn, `SELECT 1 FROM meta WHERE key = '`+oldNames+`'`, func(*sqlite.Stmt) { marked = true }); err != nil || !marked {
		return err
	}
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	defer end(&err)
	now := time.Now()
	if err := poolnames.Migrate(renamer{&tx{conn: conn, now: now}}, now); err != nil {
		return fmt.Errorf("give the pools of users their new names: %w", err)
	}
	return sqlitex.ExecuteTransient(conn, `DELETE FROM meta WHERE key = '`+oldNames+`'`, nil)
}

// renamer implements poolnames.Store before anything is loaded.
type renamer struct{ *tx }

// Pools implements poolnames.Store.
func (r renamer) Pools() (paths []string, err error) {
	err = each(r.conn, `SELECT path FROM pool`, func(s *sqlite.Stmt) { paths = append(paths, s.ColumnText(0)) })
	return paths, err
}

// idle selects jobs that may move to another pool, as life.Allowed does.
const idle = `open = 1 AND running = 0`

// Holdings implements poolnames.Store.
func (r renamer) Holdings() (all []poolnames.Holding, err error) {
	err = each(r.conn, `SELECT path, user, coalesce(sum(`+idle+`), 0), sum(running > 0) FROM job JOIN pool ON pool.id = job.pool GROUP BY path, user`,
		func(s *sqlite.Stmt) {
			all = append(all, poolnames.Holding{Pool: s.ColumnText(0), User: s.ColumnText(1), Idle: s.ColumnInt(2), Busy: s.ColumnInt(3)})
		})
	return all, err
}

// Alone implements poolnames.Store: the file is locked.
func (r renamer) Alone() error { return nil }

// Rename implements poolnames.Store. It deletes the history of a former pool with the new name, if there is one.
func (r renamer) Rename(from, to string) error {
	forget := binder{stmt: r.conn.Prep(`DELETE FROM history WHERE pool = ?`)}
	keep := binder{stmt: r.conn.Prep(`UPDATE history SET pool = ? WHERE pool = ?`)}
	pool := binder{stmt: r.conn.Prep(`UPDATE pool SET path = ? WHERE path = ?`)}
	return errors.Join(exec(forget.text(to).stmt), exec(keep.text(to).text(from).stmt), exec(pool.text(to).text(from).stmt))
}

// Move implements poolnames.Store.
func (r renamer) Move(user, from, to string) error {
	const its = ` FROM job WHERE pool = (SELECT id FROM pool WHERE path = ?1) AND user = ?2 AND ` + idle
	event := binder{stmt: r.conn.Prep(`INSERT INTO event (job, task, at, code, text) SELECT id, -1, ?3, ?4, ?5` + its)}
	moved := life.AlterEvent(&queue.Job{Pool: from},
		queue.Alteration{Verb: queue.VerbMove, Pool: to, Cause: poolnames.Cause}, r.now)
	add := binder{stmt: r.conn.Prep(`INSERT INTO pool (path, since, maker) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)}
	move := binder{stmt: r.conn.Prep(`UPDATE job SET pool = (SELECT id FROM pool WHERE path = ?3) WHERE id IN (SELECT id` + its + `)`)}
	return errors.Join(
		exec(event.text(from).text(user).times(moved.At).text(moved.Code).text(moved.Text).stmt),
		exec(add.text(to).times(r.now).text(user).stmt),
		exec(move.text(from).text(user).text(to).stmt),
	)
}

// Settings implements poolnames.Store.
func (r renamer) Settings() (map[string]string, error) {
	out := map[string]string{}
	err := each(r.conn, `SELECT key, value FROM meta`, func(s *sqlite.Stmt) {
		if key, ours := strings.CutPrefix(s.ColumnText(0), settingPrefix); ours {
			out[key] = s.ColumnText(1)
		}
	})
	return out, err
}

// Set implements poolnames.Store.
func (r renamer) Set(key, value string) error { return r.setting(key, value) }

// Audit implements poolnames.Store.
func (r renamer) Audit(e poolnames.Entry) error {
	b := binder{stmt: r.conn.Prep(`INSERT INTO audit (at, who, source, what, subject, old, new, refused, note) VALUES (?, 'fairlead', 'upgrade', ?, ?, ?, ?, 0, ?)`)}
	return exec(b.times(r.now).text(e.What).text(e.Subject).text(e.Subject).text(e.New).text(e.Note).stmt)
}
