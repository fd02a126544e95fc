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

// oldest is the oldest version of PostgreSQL that the store supports.
const oldest = 14

// migrate upgrades the schema and returns its id. Servers that start at the same time wait for the first of them. A
// failed upgrade changes nothing.
func migrate(ctx context.Context, db *database) (id string, err error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		err := pgx.BeginFunc(ctx, db.pool, func(t pgx.Tx) (err error) {
			m := migration{db: db, ctx: ctx, t: t}
			id, err = m.run(files)
			return err
		})
		if err == nil || !transient(err) || !pause(ctx, n) {
			return id, err
		}
	}
}

// migration is the transaction that upgrades the schema.
type migration struct {
	db  *database
	ctx context.Context
	t   pgx.Tx
}

func (m *migration) exec(sql string, args ...any) error {
	_, err := m.t.Exec(m.ctx, m.db.sql(sql), args...)
	return err
}

// first reads the columns of the first row.
func (m *migration) first(into []any, sql string, args ...any) error {
	return m.t.QueryRow(m.ctx, m.db.sql(sql), args...).Scan(into...)
}

func (m *migration) run(files []string) (id string, err error) {
	var version int
	if err := m.first([]any{&version}, `SELECT current_setting('server_version_num')::int / 10000`); err != nil {
		return "", err
	}
	if version < oldest {
		return "", fmt.Errorf("the database is PostgreSQL %d, fairlead needs %d or later", version, oldest)
	}
	if err := m.encoding(); err != nil {
		return "", err
	}
	if err := m.exec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "migrate "+m.db.prefix); err != nil {
		return "", err
	}
	done, err := m.version()
	if err != nil {
		return "", err
	}
	if done > len(files) {
		return "", fmt.Errorf("the schema has format %d, but this program knows formats up to %d: use the newer fairlead that wrote it, or restore a backup", done, len(files))
	}
	if err := m.apply(files[done:], done); err != nil {
		return "", err
	}
	if err := m.first([]any{&id}, `SELECT id FROM @.format`); err != nil {
		return "", err
	}
	if done == 0 {
		return id, m.exec(`INSERT INTO @.clock (id, half_life, reference) SELECT 1, 0, `+nowText, m.db.now())
	}
	if err := advance(m.first, m.db.options.Logger); err != nil {
		return "", err
	}
	// If this database is a copy, transactions of the original are not transactions of this one.
	for _, of := range []string{`feed WHERE xid`, `feed_kept WHERE pg_snapshot_xmax(seen)`} {
		if err := m.exec(`DELETE FROM @.` + of + ` > pg_snapshot_xmax(pg_current_snapshot())`); err != nil {
			return "", err
		}
	}
	return id, nil
}

// encoding refuses a database that cannot store every text. SQL_ASCII stores the bytes unchanged.
func (m *migration) encoding() error {
	var name string
	err := m.first([]any{&name},
		`SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()`)
	if err == nil && name != "UTF8" && name != "SQL_ASCII" {
		err = fmt.Errorf("the database has the encoding %s, which cannot store every character: "+
			"create another one with createdb --encoding=UTF8 --template=template0 NAME", name)
	}
	return err
}

// apply runs the files that follow a format.
func (m *migration) apply(files []string, format int) error {
	for i, file := range files {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		if err := m.exec(string(text), pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := m.exec(`UPDATE @.format SET version = $1`, format+i+1); err != nil {
			return err
		}
	}
	if format > 0 && format < namesFormat {
		return rename(m.ctx, m.db, m.t)
	}
	return nil
}

// version returns the format of the schema, 0 if it is new. It accepts an empty schema that somebody created in
// advance, but not one with the tables of another program.
func (m *migration) version() (n int, err error) {
	var ours, tables int
	err = m.first([]any{&ours, &tables},
		`SELECT count(*) FILTER (WHERE tablename = 'format'), count(*) FROM pg_tables WHERE schemaname = $1`, m.db.options.Schema)
	switch {
	case err != nil:
		return 0, err
	case ours > 0:
		err = m.first([]any{&n}, `SELECT version FROM @.format`)
		return n, err
	case tables > 0:
		return 0, fmt.Errorf("the schema holds the tables of another program: name another schema")
	}
	var exists bool
	err = m.first([]any{&exists}, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)`, m.db.options.Schema)
	if err == nil && !exists {
		err = m.exec(`CREATE SCHEMA ` + strings.TrimSuffix(m.db.prefix, "."))
	}
	if err != nil {
		return 0, err
	}
	return 0, m.exec(`CREATE TABLE @.format AS SELECT 0 AS version, gen_random_uuid()::text AS id`)
}
