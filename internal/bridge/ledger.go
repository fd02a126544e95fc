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

// ledger keeps the data that a bridge must not forget. For each task it first keeps the marker of the
// submission, written before the submission is sent. Then it keeps the number that the QS gave the task, and
// last the task's end, until the server has recorded that end. It also keeps the service that groups have
// received. When a call returns, its changes are on disk; each call writes all its changes in one
// transaction.
type ledger struct {
	lock *filelock.Lock
	id   string // distinguishes it from other ledgers

	mu   sync.Mutex
	conn *sqlite.Conn
}

// stage is how far a row has come.
type stage int

const (
	intent stage = iota // written to the ledger; it may have been sent
	sent                // the QS has it
	ended               // the QS said how it ended; the server has not recorded the end yet
)

// row is one submission of a task.
type row struct {
	seq       int64 // grows from row to row
	marker    string
	lease     api.Lease // the latest lease, under which it is reported
	priority  int64
	decision  *frontback.Decision // nil: it is fed as capacity becomes free
	held      *frontback.Held     // the book's record of it; nil: none
	stage     stage
	id        string // in the QS
	submitted time.Time
	began     time.Time
	forgot    int           // how often the QS forgot it and the bridge sent it again
	end       *api.Finished // set from stage ended on
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

// change saves rows, deletes the rows in the argument gone, and saves the service of the groups if book is
// not nil.
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

// save inserts a row, or updates the columns that change.
func (l *ledger) save(r *row) error {
	ref := r.lease.Ref
	if r.stage == intent && r.forgot == 0 && r.id == "" {
		return l.exec(`INSERT INTO entry
				(seq, marker, job, task, attempt, lease, priority, decision, held, stage, submitted)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (seq) DO UPDATE SET attempt = excluded.attempt, held = excluded.held, lease = excluded.lease`,
			r.seq, r.marker, ref.JobID, ref.Task, ref.Attempt, encode(r.lease), r.priority, encode(r.decision),
			encode(r.held), int(r.stage), millis(r.submitted))
	}
	return l.exec(`UPDATE entry SET marker = ?, attempt = ?, held = ?, stage = ?, id = ?, submitted = ?, began = ?,
			forgot = ?, ended = ?, lease = json_set(lease, '$.attempt', ?, '$.since', ?) WHERE seq = ?`,
		r.marker, ref.Attempt, encode(r.held), int(r.stage), r.id, millis(r.submitted), millis(r.began),
		r.forgot, encode(r.end), ref.Attempt, r.lease.Since.Format(time.RFC3339Nano), r.seq)
}

// encode returns a value as JSON; nil becomes empty.
func encode[T any](v T) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("bridge: " + err.Error()) // our own types never fail
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

// exec runs a statement that returns no rows.
func (l *ledger) exec(statement string, args ...any) error {
	return sqlitex.Execute(l.conn, statement, &sqlitex.ExecOptions{Args: args})
}
