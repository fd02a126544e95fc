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

// openLedger opens the ledger in a directory, which it makes if necessary. Only one process can have it open.
func openLedger(ctx context.Context, dir, node string) (*ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the bridge's directory: %w; name another one with --dir", err)
	}
	lock, err := filelock.Take(filepath.Join(dir, "lock"))
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("directory %s: %w; stop that one first, or give this one its own directory with --dir",
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
	// As in the server's own store, a commit is on disk before anybody learns of it.
	if err := sqlitex.ExecuteTransient(l.conn, "PRAGMA synchronous = FULL", nil); err != nil {
		return err
	}
	if err := sqlitemigration.Migrate(
		ctx, l.conn, sqlitemigration.Schema{AppID: ledgerID, Migrations: []string{schema}}); err != nil {
		return err
	}
	// A ledger serves one node: the server does not know its attempts under the name of another node.
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
		err = fmt.Errorf("it belongs to node %q, with %d tasks: use that name, or another directory", was,
			len(rows))
	}
	if err != nil {
		return err
	}
	// An empty ledger that changes its node gets a new id: no task depends on the old one.
	l.id = rand.Text()
	return l.write(func() error { return errors.Join(l.set("node", node), l.set("id", l.id)) })
}
