package bridge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/filelock"
)

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
			if err := l.exec("DELETE FROM entry WHERE seq = ?", r.seq); err != nil {
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
		return l.exec(`INSERT INTO entry
				(seq, marker, job, task, attempt, lease, priority, decision, held, stage, submitted)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (seq) DO UPDATE SET attempt = excluded.attempt, held = excluded.held`,
			r.seq, r.marker, ref.JobID, ref.Task, ref.Attempt, encode(r.lease), r.priority, encode(r.decision),
			encode(r.held), int(r.stage), millis(r.submitted))
	}
	return l.exec(`UPDATE entry SET marker = ?, attempt = ?, held = ?, stage = ?, id = ?, submitted = ?, began = ?,
			forgot = ?, ended = ? WHERE seq = ?`,
		r.marker, ref.Attempt, encode(r.held), int(r.stage), r.id, millis(r.submitted), millis(r.began),
		r.forgot, encode(r.end), r.seq)
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
	return l.exec(`INSERT INTO keep (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
}

// exec runs a statement that returns nothing.
func (l *ledger) exec(statement string, args ...any) error {
	return sqlitex.Execute(l.conn, statement, &sqlitex.ExecOptions{Args: args})
}
