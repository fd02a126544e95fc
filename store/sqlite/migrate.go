package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
	"zombiezen.com/go/sqlite/sqlitex"
)

//go:embed migrations/*.sql
var migrations embed.FS

// appID marks a file as ours.
const appID = 0x66616c64

// prepare sets a connection up for writing and brings the schema up to date.
func prepare(ctx context.Context, conn *sqlite.Conn) error {
	for _, pragma := range []string{
		"PRAGMA synchronous = FULL", // every commit is on disk before it is acknowledged
		"PRAGMA cache_size = -8192", // KiB; a large one costs time at every commit
		"PRAGMA temp_store = MEMORY",
		"PRAGMA wal_autocheckpoint = 4000", // pages
	} {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return err
		}
	}
	schema := sqlitemigration.Schema{AppID: appID}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := migrations.ReadFile(f)
		if err != nil {
			return err
		}
		schema.Migrations = append(schema.Migrations, string(text))
	}
	if err := checkVersion(conn, len(files)); err != nil {
		return err
	}
	if err := sqlitemigration.Migrate(ctx, conn, schema); err != nil {
		return err
	}
	return rename(conn)
}

// checkVersion refuses a file that this program does not understand.
func checkVersion(conn *sqlite.Conn, known int) error {
	version, err := pragma(conn, "user_version")
	if err != nil {
		return err
	}
	id, err := pragma(conn, "application_id")
	if err != nil {
		return err
	}
	tables := int64(0)
	err = sqlitex.ExecuteTransient(conn, "SELECT count(*) FROM sqlite_schema", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error { tables = stmt.ColumnInt64(0); return nil },
	})
	switch {
	case err != nil:
		return err
	case id != appID && tables > 0:
		return fmt.Errorf("the file is the database of another program")
	case version > int64(known):
		return fmt.Errorf("the database has format %d, but this program knows formats up to %d: use the newer fairlead that wrote it, or restore a backup", version, known)
	}
	return nil
}

func pragma(conn *sqlite.Conn, name string) (value int64, err error) {
	err = sqlitex.ExecuteTransient(conn, "PRAGMA "+name, &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error { value = stmt.ColumnInt64(0); return nil },
	})
	return value, err
}
