package bridge

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitemigration"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/filelock"
)

//go:embed ledger.sql
var schema string

// ledgerID marks a file as a ledger of a bridge.
const ledgerID = 0x666c6272

// ledger is what a bridge must not forget: for each task the marker of its submission,
// written before that is sent, then the number that the QS gave it, then how it ended, until
// the server has taken note. What groups have received is kept with it. A call that returns
// has its changes on disk; each writes all that it has to in one transaction.
type ledger struct {
	lock *filelock.Lock
	id   string // tells it from other ledgers

	mu   sync.Mutex
	conn *sqlite.Conn
}

// stage is how far a row has come.
type stage int

const (
	intent stage = iota // written down; it may have been sent
	sent                // the QS has it
	ended               // the QS said how it ended; the server has not taken note yet
)

// row is one try of a task.
type row struct {
	seq       int64 // grows
	marker    string
	lease     api.Lease // the latest one, under which it is reported
	priority  int64
	decision  *frontback.Decision // nil: it is fed as capacity frees
	held      *frontback.Held     // what the book knows of it; nil: nothing
	stage     stage
	id        string // in the QS
	submitted time.Time
	began     time.Time
	forgot    int           // how often the QS forgot it, and it was sent again
	end       *api.Finished // from ended on
}

// openLedger opens the ledger in a directory, which is made if it is not there, for one
// process at a time.
func openLedger(ctx context.Context, dir, node string) (*ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the bridge's directory: %w; name another one with --dir", err)
	}
	lock, err := filelock.Take(filepath.Join(dir, "lock"))
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("directory %s: %w; stop that one first, or give this one a directory of its own with --dir", dir, err)
	} else if err != nil {
		return nil, fmt.Errorf("the bridge's directory %s: %w; name another one with --dir, or give its user the right to write there", dir, err)
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
	if err := sqlitemigration.Migrate(ctx, l.conn, sqlitemigration.Schema{AppID: ledgerID, Migrations: []string{schema}}); err != nil {
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
		err = fmt.Errorf("it is that of node %q, with %d tasks: go on under that name, or use another directory", was, len(rows))
	}
	if err != nil {
		return err
	}
	// Under another name it is another ledger, too: none of its tasks is anywhere any more.
	l.id = rand.Text()
	return l.write(func() error { return errors.Join(l.set("node", node), l.set("id", l.id)) })
}

func (l *ledger) close() error {
	if l.conn == nil {
		l.lock.Release()
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.conn.Close()
	l.lock.Release()
	return err
}

// write runs f in a transaction.
func (l *ledger) write(f func() error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	done, err := sqlitex.ImmediateTransaction(l.conn)
	if err != nil {
		return err
	}
	defer done(&err)
	return f()
}

// change writes rows, new ones with seq 0, takes rows out, and writes what the groups have.
func (l *ledger) change(rows, gone []*row, book *frontback.Book) error {
	if len(rows)+len(gone) == 0 && book == nil {
		return nil
	}
	err := l.write(func() error {
		for _, r := range rows {
			if err := l.save(r); err != nil {
				return err
			}
		}
		for _, r := range gone {
			if err := sqlitex.Execute(l.conn, "DELETE FROM entry WHERE seq = ?", &sqlitex.ExecOptions{Args: []any{r.seq}}); err != nil {
				return err
			}
		}
		if book == nil {
			return nil
		}
		text, err := json.Marshal(book.Received())
		if err != nil {
			return err
		}
		return l.set("book", string(text))
	})
	if err != nil {
		return fmt.Errorf("the ledger cannot be written: %w", err)
	}
	return nil
}

// save adds a row, or writes what of it changes.
func (l *ledger) save(r *row) error {
	ref := r.lease.Ref
	if r.stage == intent && r.forgot == 0 && r.id == "" {
		return sqlitex.Execute(l.conn, `INSERT INTO entry (seq, marker, job, task, attempt, lease, priority, decision, held, stage, submitted)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (seq) DO UPDATE SET attempt = excluded.attempt, held = excluded.held`,
			&sqlitex.ExecOptions{Args: []any{r.seq, r.marker, ref.JobID, ref.Task, ref.Attempt, encode(r.lease), r.priority, encode(r.decision), encode(r.held), int(r.stage), millis(r.submitted)}})
	}
	return sqlitex.Execute(l.conn, `UPDATE entry SET marker = ?, attempt = ?, held = ?, stage = ?, id = ?, submitted = ?, began = ?, forgot = ?, ended = ? WHERE seq = ?`,
		&sqlitex.ExecOptions{Args: []any{r.marker, ref.Attempt, encode(r.held), int(r.stage), r.id, millis(r.submitted), millis(r.began), r.forgot, encode(r.end), r.seq}})
}

// encode is a value as text; nil is empty.
func encode[T any](v T) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("bridge: " + err.Error()) // our own types
	}
	if string(text) == "null" {
		return ""
	}
	return string(text)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func (l *ledger) set(name, value string) error {
	return sqlitex.Execute(l.conn, "INSERT INTO keep (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
		&sqlitex.ExecOptions{Args: []any{name, value}})
}
