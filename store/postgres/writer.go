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

// writer runs the transactions of the store, and sees to what follows from them.
type writer struct {
	db    *database
	conns *pgxpool.Pool
	pools *knownPools
	feed  *feed
	roll  *roller
	wake  *waker
}

// aside is the writer for transactions within which a program waits that holds a connection of its own pool: they use
// none of these, so that the program never waits for itself.
func (w *writer) aside() *writer {
	if w.db.own == nil {
		return w
	}
	own := *w
	own.conns = w.db.own
	return &own
}

// repeat is do for changes that may as well be done twice: it does them again when nobody knows
// whether they took effect. Then lost is the error of an earlier try.
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

// do runs f in a transaction, again if others were in its way or the database was
// away: f leaves nothing behind but what it does to the transaction.
func (w *writer) do(ctx context.Context, f func(*tx) error) error {
	return w.early(ctx, func(t *tx) error {
		if err := t.trip.do(); err != nil {
			return err
		}
		return f(t)
	})
}

// early is do for an f that begins while the transaction has not: it knows the time, and
// the clock of usage, after the first do. That saves a trip to the
// database.
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

// pause is pause, but ends when the store is closed: the next try finds that out.
func (w *writer) pause(ctx context.Context, n int) bool {
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.db.living, cancel)()
	return pause(both, n) || ctx.Err() == nil
}

// changeLists are for the changes of transactions: they are large, and gone once they are written.
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
		conn.Exec(back, "ROLLBACK") // or else the connection is dropped
	}
	if err != nil {
		return err
	}
	w.committed(t)
	return nil
}

// commit writes the changes gathered in memory and ends the transaction.
func (t *tx) commit() error {
	if err := t.flush(); err != nil {
		return err
	}
	reached := false // all before it was answered
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

// over says how the transaction ended. If nobody knows whether it took effect, what it changed is
// heard of through the feed.
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

// committed does in memory what follows from a transaction.
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
