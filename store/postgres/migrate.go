package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// oldest is the version of PostgreSQL that the store needs.
const oldest = 14

// migrate brings the schema up to date. Servers that start at the same time wait for the
// first of them; whoever fails leaves nothing behind.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		err := pgx.BeginFunc(ctx, s.pool, func(t pgx.Tx) error { return s.bringUp(ctx, t, files) })
		if err == nil || !passing(err) || !pause(ctx, n) {
			return err
		}
	}
}

func (s *Store) bringUp(ctx context.Context, t pgx.Tx, files []string) error {
	var version int
	if err := t.QueryRow(ctx, `SELECT current_setting('server_version_num')::int / 10000`).Scan(&version); err != nil {
		return err
	}
	if version < oldest {
		return fmt.Errorf("the database is PostgreSQL %d, fairlead needs %d or later", version, oldest)
	}
	if _, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "migrate "+s.prefix); err != nil {
		return err
	}
	done, err := s.version(ctx, t)
	if err != nil {
		return err
	}
	if done > len(files) {
		return fmt.Errorf("the schema has format %d, this program knows up to %d: use the newer fairlead that wrote it, or a backup", done, len(files))
	}
	for i, file := range files[done:] {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := t.Exec(ctx, s.sql(string(text)), pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if _, err := t.Exec(ctx, s.sql(`UPDATE @.format SET version = $1`), done+i+1); err != nil {
			return err
		}
	}
	if err := t.QueryRow(ctx, s.sql(`SELECT id FROM @.format`)).Scan(&s.id); err != nil {
		return err
	}
	if done > 0 {
		// Transactions of a database of which this is a copy are none of this one.
		for _, of := range []string{`feed WHERE xid`, `feed_kept WHERE pg_snapshot_xmax(seen)`} {
			if _, err := t.Exec(ctx, s.sql(`DELETE FROM @.`+of+` > pg_snapshot_xmax(pg_current_snapshot())`)); err != nil {
				return err
			}
		}
		return nil
	}
	_, err = t.Exec(ctx, s.sql(`INSERT INTO @.clock (id, half_life, reference) SELECT 1, 0, `+nowText), s.now())
	return err
}

// version is the format of the schema, 0 if it was only just made. A schema that somebody
// made for us is used; one with the tables of another program is not.
func (s *Store) version(ctx context.Context, t pgx.Tx) (n int, err error) {
	var ours, tables int
	err = t.QueryRow(ctx, `SELECT count(*) FILTER (WHERE tablename = 'format'), count(*) FROM pg_tables WHERE schemaname = $1`, s.options.Schema).Scan(&ours, &tables)
	switch {
	case err != nil:
		return 0, err
	case ours > 0:
		return n, t.QueryRow(ctx, s.sql(`SELECT version FROM @.format`)).Scan(&n)
	case tables > 0:
		return 0, fmt.Errorf("the schema holds the tables of another program: name another one")
	}
	var exists bool
	if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)`, s.options.Schema).Scan(&exists); err != nil {
		return 0, err
	}
	if !exists {
		if _, err := t.Exec(ctx, `CREATE SCHEMA `+strings.TrimSuffix(s.prefix, ".")); err != nil {
			return 0, err
		}
	}
	_, err = t.Exec(ctx, s.sql(`CREATE TABLE @.format AS SELECT 0 AS version, gen_random_uuid()::text AS id`))
	return 0, err
}
