package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/frontback"
)

// rows returns all rows, in the order of their seq.
func (l *ledger) rows() ([]*row, error) {
	var all []*row
	read := func(s *sqlite.Stmt) error {
		r := &row{
			seq: s.GetInt64("seq"), marker: s.GetText("marker"), priority: s.GetInt64("priority"),
			stage: stage(s.GetInt64("stage")), id: s.GetText("id"), submitted: instant(s.GetInt64("submitted")),
			began: instant(s.GetInt64("began")), forgot: int(s.GetInt64("forgot")),
		}
		err := errors.Join(decode(s.GetText("lease"), &r.lease), decode(s.GetText("decision"), &r.decision),
			decode(s.GetText("held"), &r.held), decode(s.GetText("ended"), &r.end))
		if err != nil {
			return fmt.Errorf("row %d: %w", r.seq, err)
		}
		if attempt := int(s.GetInt64("attempt")); r.lease.Attempt != attempt {
			// An older program has written the row, and stored only the start of an earlier attempt.
			r.lease.Attempt, r.lease.Since = attempt, time.Time{}
		}
		all = append(all, r)
		return nil
	}
	err := sqlitex.Execute(l.conn, `SELECT seq, marker, attempt, lease, priority, decision, held, stage, id, submitted,
		began, forgot, ended FROM entry ORDER BY seq`, &sqlitex.ExecOptions{ResultFunc: read})
	return all, err
}

func decode(text string, v any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), v)
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func (l *ledger) value(name string) (value string, err error) {
	err = sqlitex.Execute(l.conn, "SELECT value FROM keep WHERE name = ?", &sqlitex.ExecOptions{
		Args: []any{name}, ResultFunc: func(s *sqlite.Stmt) error { value = s.ColumnText(0); return nil },
	})
	return value, err
}

// book restores the book from the ledger and its rows.
func (l *ledger) book(s frontback.Settings, rows []*row) (*frontback.Book, error) {
	text, err := l.value("book")
	if err != nil {
		return nil, err
	}
	state := frontback.State{Groups: map[string][]frontback.Lot{}}
	if err := decode(text, &state.Groups); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.held != nil && r.stage != ended {
			state.Jobs = append(state.Jobs, *r.held)
		}
	}
	// The stored service counts as of the instants that are stored with it, so the book starts at the latest
	// of them.
	for _, lots := range state.Groups {
		for _, lot := range lots {
			if lot.At.After(state.Now) {
				state.Now = lot.At
			}
		}
	}
	return frontback.Restore(s, state)
}
