package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// feed is this process's copy of the latest changes, which numbers them as they come.
//
// Transactions commit in another order than they begin, or take numbers from a sequence:
// a reader that remembers the highest number that it has seen misses transactions that commit late, and
// whoever waits for the oldest transaction waits for anybody who takes his time. The feed
// remembers a snapshot instead. New is what that did not see and the next one does: no
// change is missed, and none waits for another. Of changes to one job the number tells the
// order: it is taken while the job is locked.
//
// A database that crashed gives the numbers of transactions again that had written nothing
// lasting, such as undone ones: a snapshot from before takes them for seen. A sequence never
// gives a number again. So a change with a higher number in the feed than all changes read so far
// is new, too; the number of its transaction is higher than theirs as well.
type feed struct {
	life.Feed
	db    *database
	roll  *roller
	fates fates

	mu   sync.Mutex
	seen string    // the snapshot up to which changes have been read
	at   time.Time // when, by the database's clock
	last int64     // the highest number in the feed that has been read
	xid  string    // the highest of its transactions
}

// begin reads from now on.
func (f *feed) begin(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var now int64
	err := f.db.query(ctx, `SELECT pg_current_snapshot()::text, `+realNow+`,
		coalesce((SELECT max(seq) FROM @.feed), 0), coalesce((SELECT xid::text FROM @.feed ORDER BY xid DESC LIMIT 1), '0')`,
		func(r pgx.Rows) error { return r.Scan(&f.seen, &now, &f.last, &f.xid) })
	f.at = life.Instant(now)
	return err
}

// pullText reads what an earlier snapshot did not see. The first row is the present
// snapshot itself.
const pullText = `SELECT 0 AS seq, pg_current_snapshot()::text, ` + realNow + `,
		pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax($1::text::pg_snapshot), NULL::bytea, 0, ''
	UNION ALL (SELECT seq, '', 0, false, changes, origin, xid::text FROM @.feed
		WHERE xid >= least(pg_snapshot_xmin($1::text::pg_snapshot), $2::text::xid8) AND (seq > $3 OR NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot)))
	ORDER BY seq`

// pull reads the changes that are new and returns the cursor after them.
func (f *feed) pull(ctx context.Context, q querier) (cursor int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var seen string
	var at int64
	var back bool // this is another database, which knows less: one has failed over
	var news bool // something was written, perhaps by one who is gone: it has to be rolled up, or settled
	last, xid := f.last, f.xid
	var fresh []queue.Change
	err = f.db.rows(ctx, q, pullText, func(r pgx.Rows) error {
		var seq, now, origin int64
		var snapshot, x string
		var older bool
		var text []byte
		if err := r.Scan(&seq, &snapshot, &now, &older, &text, &origin, &x); err != nil {
			return err
		}
		if seq == 0 {
			seen, at, back = snapshot, now, older
			return nil
		}
		news = true
		last, xid = max(last, seq), later(xid, x)
		changes, err := decode(text)
		if origin&^turns == f.db.origin && f.fates.known(origin) {
			changes = foreign(changes)
		}
		fresh = append(fresh, changes...)
		return err
	}, f.seen, f.xid, f.last)
	if err != nil {
		return 0, err
	}
	if news {
		f.roll.due()
	}
	now := life.Instant(at)
	if now.Sub(f.at) > feedKept/2 || back {
		f.Forget() // some may have been trimmed that were not read, or are taken for read
	}
	f.seen, f.at, f.last, f.xid = seen, now, last, xid
	for _, c := range fresh {
		f.Append(c) // who waits for it is told by who wrote it, or looks by himself
	}
	return f.Cursor(), nil
}

// later is the higher of two numbers of transactions.
func later(a, b string) string {
	if len(a) > len(b) || len(a) == len(b) && a > b {
		return a
	}
	return b
}

// doubt makes everybody who has a cursor read the whole state anew.
func (f *feed) doubt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Forget()
}

// after returns changes after a cursor.
func (f *feed) after(cursor int64, most int) ([]queue.Change, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.After(cursor, most)
}

// foreign leaves out of what this store has changed itself what only others have to hear.
func foreign(all []queue.Change) []queue.Change {
	kept := all[:0]
	for _, c := range all {
		switch c.What {
		case queue.Leased, queue.Ended, queue.Changed:
			continue
		case queue.Done:
			c.Runs = nil
		}
		kept = append(kept, c)
	}
	return kept
}

// wakes reports whether this process has to look at once for what it has changed itself. It
// knows its own leases, and the attempts that it ended. The feed tells it no more about these
// than that the job has ended, and it hears that when it looks for something to put in the place.
func wakes(changes []queue.Change) bool {
	return slices.ContainsFunc(changes, func(c queue.Change) bool {
		switch c.What {
		case queue.Leased, queue.Ended, queue.Changed:
			return false
		case queue.Done:
			return len(c.Runs) == 0
		}
		return true
	})
}
