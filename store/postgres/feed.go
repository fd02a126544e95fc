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

// feed is this process's copy of the latest changes, which it numbers as they come.
//
// Transactions do not commit in the order in which they begin, or take numbers from a sequence. So a reader that
// remembers the highest number that it has seen misses transactions that commit late. A reader that waits for the
// oldest transaction waits for any slow one. Therefore the feed remembers a database snapshot. A change is new if this
// snapshot did not see it and the next one does. So no change is missed, and none waits for another. Changes of one job
// are ordered by their number, which is taken while the job is locked.
//
// A database that crashed reuses the numbers of transactions that had written nothing durable, such as undone ones, so
// an older snapshot treats the new transactions as seen. A sequence never repeats a number. Therefore a change is also
// new if its number in the feed is higher than the numbers of all changes read so far. After a crash, the number of its
// transaction is also higher than theirs.
type feed struct {
	life.Feed
	db    *database
	roll  *roller
	fates fates

	mu   sync.Mutex
	seen string    // the snapshot up to which changes have been read
	at   time.Time // when that was, by the database's clock
	last int64     // the highest number read from the feed
	xid  string    // the highest transaction number of these
}

// begin starts reading at the present state.
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

// pullText reads the changes that an earlier snapshot did not see. The first row is the present snapshot itself.
const pullText = `SELECT 0 AS seq, pg_current_snapshot()::text, ` + realNow + `,
		pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax($1::text::pg_snapshot), NULL::bytea, 0, ''
	UNION ALL (SELECT seq, '', 0, false, changes, origin, xid::text FROM @.feed
		WHERE xid >= least(pg_snapshot_xmin($1::text::pg_snapshot), $2::text::xid8) AND (seq > $3 OR NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot)))
	ORDER BY seq`

// pull reads the new changes and returns the cursor after them.
func (f *feed) pull(ctx context.Context, q querier) (cursor int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var seen string
	var at int64
	var back bool // after a failover, this database lacks some changes
	var news bool // something was written, perhaps by a dead server: roll it up, or settle it
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
		f.Forget() // some may have been trimmed unread, or count as read
	}
	f.seen, f.at, f.last, f.xid = seen, now, last, xid
	for _, c := range fresh {
		f.Append(c) // their writer notifies waiting readers, or these poll
	}
	return f.Cursor(), nil
}

// later returns the higher of two transaction numbers.
func later(a, b string) string {
	if len(a) > len(b) || len(a) == len(b) && a > b {
		return a
	}
	return b
}

// doubt makes all readers with a cursor read the whole state anew.
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

// foreign removes, from this store's own changes, the ones that are only for other stores.
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

// wakes reports whether this process must read its own changes at once. It knows its own leases, and the attempts that
// it ended. For these the feed only adds that the job has ended, and the process reads that when it next looks for a
// task to start.
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
