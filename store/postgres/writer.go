package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead/queue"
)

// writer runs the transactions of the store, and handles their consequences.
type writer struct {
	db    *database
	conns *pgxpool.Pool
	pools *knownPools
	feed  *feed
	roll  *roller
	wake  *waker
}

// aside returns the writer for transactions for which a program waits while it holds a connection of its own pool. They
// use other connections, so that the program never waits for itself.
func (w *writer) aside() *writer {
	if w.db.own == nil {
		return w
	}
	own := *w
	own.conns = w.db.own
	return &own
}

// repeat is do for changes that may safely be made twice: it repeats them if it is unknown whether they took effect. In
// that case "lost" is the error of an earlier try.
func (w *writer) repeat(caller context.Context, f func(*tx) error) (lost, err error) {
	ctx, cancel := context.WithTimeout(caller, w.db.options.Timeout)
	defer cancel()
	for n := 0; ; n++ {
		err = w.do(ctx, f)
		if fate := (unknown{}); !errors.As(err, &fate) || !w.pause(ctx, n) {
			return lost, unavailable(caller, err)
		}
		lost = err
	}
}

// do runs f in a transaction, and tries again if other transactions were in its way or the database was unavailable.
// Therefore f must have no effects outside the transaction.
func (w *writer) do(ctx context.Context, f func(*tx) error) error {
	return w.early(ctx, func(t *tx) error {
		if err := t.trip.do(); err != nil {
			return err
		}
		return f(t)
	})
}

// early is do for a function f that begins before the transaction does. Such an f knows the time, and the clock of
// usage, only after the first do of its transaction. That saves a trip to the database.
func (w *writer) early(caller context.Context, f func(*tx) error) error {
	ctx, cancel := context.WithTimeout(caller, w.db.options.Timeout)
	defer cancel()
	for n := 0; ; n++ {
		if err := w.db.alive(ctx); err != nil {
			return unavailable(caller, err)
		}
		err := w.transact(ctx, f)
		if err == nil {
			w.db.answers()
			return nil
		}
		if !conflict(err) {
			now := time.Now()
			w.db.away.Store(&now)
		}
		if transient(err) && !conflict(err) && ctx.Err() == nil {
			w.db.silent(err)
		}
		if lost := (unknown{}); errors.As(err, &lost) || !transient(err) || !w.pause(ctx, n) {
			return unavailable(caller, explain(err))
		}
	}
}

// pause is the function pause, but ends when the store is closed: the next try detects that.
func (w *writer) pause(ctx context.Context, n int) bool {
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.db.living, cancel)()
	return pause(both, n) || ctx.Err() == nil
}

// changeLists pools the slices for changes of transactions: they are large, and short-lived.
var changeLists = sync.Pool{New: func() any { return &[]queue.Change{} }}

func (w *writer) transact(ctx context.Context, f func(*tx) error) (err error) {
	conn, err := w.conns.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	changes := changeLists.Get().(*[]queue.Change)
	t := newTx(ctx, w.db, w.pools, conn, w.feed.fates.begin(w.db.origin))
	t.changes = (*changes)[:0]
	defer func() {
		w.over(t, err)
		clear(t.changes)
		*changes = t.changes
		changeLists.Put(changes)
	}()
	t.begin()
	if err = f(t); err == nil {
		err = t.commit()
	}
	if err != nil && conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		conn.Exec(back, "ROLLBACK") // if this fails the connection is dropped
	}
	if err != nil {
		return err
	}
	w.committed(t)
	return nil
}

// commit writes the changes collected in memory and ends the transaction.
func (t *tx) commit() error {
	if err := t.flush(); err != nil {
		return err
	}
	reached := false // all statements before it were answered
	t.trip.batch.Queue("COMMIT")
	t.trip.results = append(t.trip.results, func(r pgx.BatchResults) error {
		reached = true
		_, err := r.Exec()
		return err
	})
	err := t.trip.do()
	if uncertain(err, reached) {
		return unknown{err}
	}
	return err
}

// over records how the transaction ended. If it is unknown whether it took effect, its changes are read from the feed.
func (w *writer) over(t *tx, err error) {
	fate := unknown{}
	lost := errors.As(err, &fate)
	if w.feed.fates.end(t.origin, lost) {
		w.feed.doubt()
	}
	if lost {
		w.feed.Wake()
		w.wake.due()
	}
}

// committed updates the memory after a commit.
func (w *writer) committed(t *tx) {
	w.pools.add(t.pools.made)
	if len(t.ledger.deltas) > 0 || len(t.changes) > 0 {
		w.roll.due()
	}
	if wakes(t.changes) {
		w.feed.Wake()
	}
	if len(t.changes) > 0 {
		w.wake.due()
	}
}
