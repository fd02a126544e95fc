package sqlite

import (
	"context"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/internal/life"
)

// admit calls f to grant the wants for which the rates leave enough. It does not check limits of amounts that are held,
// such as licenses: only one process uses the file, so its scheduler enforces these limits.
func (t *tx) admit(wants []queue.Want, f func([]queue.Want, []queue.Grant) error) ([]queue.Grant, error) {
	out := make([]queue.Grant, len(wants))
	limits := life.NewLimits(wants)
	if limits == nil {
		return out, f(wants, out)
	}
	for _, name := range limits.Rates() {
		if err := t.readRate(name, limits); err != nil {
			return nil, err
		}
	}
	admitted, at := limits.Admit(wants, out, t.now)
	granted := make([]queue.Grant, len(admitted))
	if err := f(admitted, granted); err != nil {
		return nil, err
	}
	for i, g := range granted {
		out[at[i]] = g
	}
	for _, r := range limits.Settle(wants, out) {
		b := binder{stmt: t.conn.Prep(`INSERT OR REPLACE INTO rate (name, count, per, burst, full, taken, at) VALUES (?, ?, ?, ?, ?, ?, ?)`)}
		b.text(r.Name).int64(r.Limit.Count).int64(int64(r.Limit.Per)).int64(r.Limit.Burst).times(r.Full).int64(r.Taken).times(r.At)
		if err := exec(b.stmt); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const rateColumns = `SELECT name, count, per, burst, full, taken, at FROM rate`

func (t *tx) readRate(name string, limits *life.Limits) error {
	stmt := t.conn.Prep(rateColumns + ` WHERE name = ?`)
	stmt.BindText(1, name)
	defer stmt.Reset()
	found, err := stmt.Step()
	if found {
		limits.Stands(rateOf(stmt))
	}
	return err
}

func rateOf(stmt *sqlite.Stmt) (r sched.RateState) {
	s := scanner{stmt: stmt}
	r.Name, r.Limit.Count, r.Limit.Per, r.Limit.Burst = s.text(), s.int64(), time.Duration(s.int64()), s.int64()
	r.Full, r.Taken, r.At = s.time(), s.int64(), s.time()
	return r
}

// Rates implements queue.RateKeeper.
func (s *Store) Rates(ctx context.Context) (out []sched.RateState, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		out = nil
		return each(conn, rateColumns+` ORDER BY name`, func(stmt *sqlite.Stmt) {
			r := rateOf(stmt)
			r.Resume(r.Limit, time.Now())
			out = append(out, r)
		})
	})
	return out, err
}
