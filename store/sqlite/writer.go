package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead"
)

// writer is the one goroutine that writes. It gathers the calls that wait for it
// into one transaction: while one is synced to disk, the next ones gather.
type writer struct {
	s    *Store
	conn *sqlite.Conn
	ops  chan *op
	quit chan struct{}
	done chan error

	begin, commit, rollback *sqlite.Stmt

	changes []fairlead.Change // memory of the last transaction, to be used again
	steps   []func(*Store)
}

// op is one call that writes. Its function may run more than once, each time in a
// transaction in which the earlier ones have left nothing; what is to happen in memory
// it leaves to tx.then.
type op struct {
	run   func(*tx) error
	err   error
	ready chan struct{}
	grows bool // may be refused when the disk is full
	solo  bool // runs in a transaction of its own, once
}

// maxBatch bounds the calls in one transaction, so that nobody waits for too many
// others.
const maxBatch = 512

func newWriter(s *Store, conn *sqlite.Conn) *writer {
	w := &writer{
		s: s, conn: conn, ops: make(chan *op, maxBatch), quit: make(chan struct{}), done: make(chan error, 1),
		begin: conn.Prep("BEGIN IMMEDIATE"), commit: conn.Prep("COMMIT"), rollback: conn.Prep("ROLLBACK"),
	}
	go w.loop()
	return w
}

// write runs f in a transaction and returns when it is on disk. When ctx ends
// before, f may still take effect.
func (s *Store) write(ctx context.Context, grows bool, f func(*tx) error) error {
	return s.enqueue(ctx, &op{run: f, grows: grows})
}

func (s *Store) enqueue(ctx context.Context, o *op) error {
	o.ready = make(chan struct{})
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return fairlead.ErrClosed
	}
	select {
	case s.writer.ops <- o:
	case <-s.writer.quit:
		return fairlead.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-o.ready:
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) close() error {
	close(w.quit)
	return <-w.done
}

func (w *writer) loop() {
	batch := make([]*op, 0, maxBatch)
	for {
		batch = batch[:0]
		select {
		case o := <-w.ops:
			batch = append(batch, o)
		case <-w.quit:
			w.refuse()
			w.done <- w.conn.Close()
			return
		}
		w.together(w.gather(batch))
	}
}

// gather takes what else waits already.
func (w *writer) gather(batch []*op) []*op {
	for len(batch) < maxBatch {
		select {
		case o := <-w.ops:
			batch = append(batch, o)
		default:
			return batch
		}
	}
	return batch
}

// refuse fails the calls that came too late.
func (w *writer) refuse() {
	for _, o := range w.gather(nil) {
		o.err = fairlead.ErrClosed
		close(o.ready)
	}
}

// together runs a batch in one transaction. If that fails, each call is run in one of
// its own, so that one that cannot succeed does not fail the others.
func (w *writer) together(batch []*op) {
	if !w.s.ballast.whole(time.Now()) {
		batch = refuseGrowth(batch)
	}
	var shared []*op
	for _, o := range batch {
		if !o.solo {
			shared = append(shared, o)
		}
	}
	err := error(nil)
	if len(shared) > 0 {
		err = w.transact(shared)
	}
	for _, o := range batch {
		if o.solo || err != nil {
			o.err = w.alone(o)
		}
		close(o.ready)
	}
}

// refuseGrowth refuses the calls that add something, and returns the others.
func refuseGrowth(batch []*op) (rest []*op) {
	for _, o := range batch {
		if o.grows {
			o.err = fmt.Errorf("%w: what is left is kept for the jobs that are there; make room on the server's disk", fairlead.ErrFull)
			close(o.ready)
			continue
		}
		rest = append(rest, o)
	}
	return rest
}

// alone runs one call. On a full disk the ballast is given back to those that end
// something; those that add something are refused.
func (w *writer) alone(o *op) error {
	err := explain(w.transact([]*op{o}))
	if errors.Is(err, fairlead.ErrFull) && !o.grows && !o.solo && w.s.ballast.give() {
		err = explain(w.transact([]*op{o}))
	}
	return err
}

func (w *writer) transact(batch []*op) error {
	if err := exec(w.begin); err != nil {
		return err
	}
	t := &tx{s: w.s, conn: w.conn, now: time.Now(), clock: w.s.clock, changes: w.changes[:0], steps: w.steps[:0]}
	err := w.runAll(t, batch)
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

func (w *writer) runAll(t *tx, batch []*op) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("sqlite store: %v", p)
		}
	}()
	for _, o := range batch {
		if err := o.run(t); err != nil {
			return err
		}
	}
	return nil
}

// undo rolls back, unless the engine has done so already.
func (w *writer) undo(err error) error {
	if w.conn.AutocommitEnabled() {
		return err
	}
	return errors.Join(err, exec(w.rollback))
}

// exec runs a statement that returns no rows.
func exec(stmt *sqlite.Stmt) error {
	_, err := stmt.Step()
	return errors.Join(err, stmt.Reset())
}
