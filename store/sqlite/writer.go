package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/internal/batch"
	"github.com/fairlead/fairlead/queue"
)

// writer makes all writes. It combines waiting calls into one transaction: while one transaction is synced to disk, the
// calls of the next one collect.
type writer struct {
	mem     *memory
	ballast *ballast
	place   *place
	conn    *sqlite.Conn
	calls   batch.Batcher[op, struct{}]

	begin, commit, rollback *sqlite.Stmt

	changes []queue.Change // slice of the last transaction, for reuse
	steps   []func(*memory)
}

// op is the work of a call. Its function may run several times, each time in a transaction without effects of earlier
// runs. It must change memory only through tx.then.
type op struct {
	run   func(*tx) error
	grows bool // is refused when the disk is full
	solo  bool // runs once, in its own transaction
}

// call is an op for which a caller waits.
type call = batch.Call[op, struct{}]

// maxBatch is the maximum number of calls in one transaction, so that no call has to wait for too large a number of
// others.
const maxBatch = 512

func newWriter(m *memory, b *ballast, at *place, conn *sqlite.Conn) *writer {
	w := &writer{
		mem: m, ballast: b, place: at, conn: conn,
		begin: conn.Prep("BEGIN IMMEDIATE"), commit: conn.Prep("COMMIT"), rollback: conn.Prep("ROLLBACK"),
	}
	w.calls = batch.Batcher[op, struct{}]{Run: w.together, MaxWeight: maxBatch, Closed: queue.ErrClosed}
	return w
}

// do runs an op and returns when it is on disk. If ctx ends first, the op may still take effect.
func (w *writer) do(ctx context.Context, o op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.mem.alive(); err != nil {
		return err
	}
	_, err := w.calls.Do(ctx, o)
	return err
}

func (w *writer) close() error {
	w.calls.Close()
	return w.conn.Close()
}

// together runs calls in one transaction. If that fails, it runs each call in its own transaction, so that one failing
// call does not make the others fail.
func (w *writer) together(calls []*call) {
	if err := w.place.there(); err != nil {
		for _, c := range calls {
			c.Answer(struct{}{}, err)
		}
		return
	}
	if !w.ballast.whole(time.Now()) {
		calls = refuseGrowth(calls)
	}
	var shared []op
	for _, c := range calls {
		if !c.In.solo {
			shared = append(shared, c.In)
		}
	}
	err := error(nil)
	if len(shared) > 0 {
		err = w.transact(shared...)
	}
	for _, c := range calls {
		its := error(nil)
		if c.In.solo || err != nil {
			its = w.alone(c.In)
		}
		c.Answer(struct{}{}, its)
	}
}

// refuseGrowth refuses the calls that add data, and returns the others.
func refuseGrowth(calls []*call) (rest []*call) {
	for _, c := range calls {
		if c.In.grows {
			c.Answer(struct{}{}, fmt.Errorf("%w: the remaining space is kept for existing jobs; make room on the server's disk", queue.ErrFull))
			continue
		}
		rest = append(rest, c)
	}
	return rest
}

// alone runs one op. On a full disk it releases the ballast for ops that end something, and refuses ops that add data.
func (w *writer) alone(o op) error {
	err := explain(w.transact(o))
	if errors.Is(err, queue.ErrFull) && !o.grows && !o.solo && w.ballast.give() {
		err = explain(w.transact(o))
	}
	return err
}

func (w *writer) transact(ops ...op) error {
	if err := exec(w.begin); err != nil {
		return err
	}
	t := newTx(w.mem, w.conn, time.Now())
	t.changes, t.steps = w.changes[:0], w.steps[:0]
	err := w.runAll(t, ops)
	if err == nil {
		err = t.flush()
	}
	if err == nil {
		err = exec(w.commit)
	}
	if err != nil {
		return w.undo(err)
	}
	t.apply()
	clear(t.steps)
	w.changes, w.steps = t.changes, t.steps
	return nil
}

func (w *writer) runAll(t *tx, ops []op) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("sqlite store: %v", p)
		}
	}()
	for _, o := range ops {
		if err := o.run(t); err != nil {
			return err
		}
	}
	return nil
}

// undo rolls back, unless SQLite has already done so.
func (w *writer) undo(err error) error {
	if w.conn.AutocommitEnabled() {
		return err
	}
	return errors.Join(err, exec(w.rollback))
}
