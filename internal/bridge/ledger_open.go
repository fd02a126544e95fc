package bridge

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/internal/filelock"
)

//go:embed ledger.sql
var schema string

// ledgerID marks a file as a ledger of a bridge.
const ledgerID = 0x666c6272

// openLedger opens the ledger in a directory, which is made if it is not there, for one
// process at a time.
func openLedger(ctx context.Context, dir, node string) (*ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the bridge's directory: %w; name another one with --dir", err)
	}
	lock, err := filelock.Take(filepath.Join(dir, "lock"))
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("directory %s: %w; stop that one first, or give this one a directory of its own with --dir",
			dir, err)
	} else if err != nil {
		return nil, fmt.Errorf("the bridge's directory %s: %w; name another one with --dir, or give its user the right to "+
			"write there", dir, err)
	}
	l := &ledger{lock: lock}
	if err := l.open(ctx, filepath.Join(dir, "ledger.db"), node); err != nil {
		l.close()
		return nil, fmt.Errorf("the ledger in %s: %w", dir, err)
	}
	return l, nil
}

func (l *ledger) open(ctx context.Context, file, node string) (err error) {
	if l.conn, err = sqlite.OpenConn(file, sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenWAL); err != nil {
		return err
	}
	// As the server's own store: a commit is on disk before anybody hears of it.
	if err := sqlitex.ExecuteTransient(l.conn, "PRAGMA synchronous = FULL", nil); err != nil {
		return err
	}
	if err := sqlitemigration.Migrate(
		ctx, l.conn, sqlitemigration.Schema{AppID: ledgerID, Migrations: []string{schema}}); err != nil {
		return err
	}
	// Other attempts than those of this node would be looked for in vain.
	was, err := l.value("node")
	switch {
	case err != nil:
		return err
	case was == node:
		l.id, err = l.value("id")
		return err
	}
	rows, err := l.rows()
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("it is that of node %q, with %d tasks: go on under that name, or use another directory", was,
			len(rows))
	}
	if err != nil {
		return err
	}
	// Under another name it is another ledger, too: none of its tasks is anywhere any more.
	l.id = rand.Text()
	return l.write(func() error { return errors.Join(l.set("node", node), l.set("id", l.id)) })
}
