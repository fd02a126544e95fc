package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// feed is this process's copy of the latest changes, which numbers them as they come.
//
// Transactions commit in another order than they begin, or take numbers from a sequence:
// whoever remembers the highest number that he has seen misses those that commit late, and
// whoever waits for the oldest transaction waits for anybody who takes his time. The feed
// remembers a snapshot instead. New is what that did not see and the next one does: no
// change is missed, and none waits for another. Of changes to one job the number tells the
// order: it is taken while the job is locked.
//
// A database that crashed gives the numbers of transactions again that had written nothing
// lasting, such as those that were undone: a snapshot from before takes them for seen. What is
// counted by a sequence is never given again. So what has a higher number in the feed than all
// that has been read is new, too; its transaction's is higher than theirs as well.
type feed struct {
	life.Feed
	mu   sync.Mutex
	seen string    // the snapshot up to which changes have been read
	at   time.Time // when, by the database's clock
	last int64     // the highest number in the feed of what has been read
	xid  string    // the highest of its transactions
}

// begin reads from now on.
func (f *feed) begin(ctx context.Context, s *Store) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var now int64
	err := s.query(ctx, `SELECT pg_current_snapshot()::text, `+realNow+`,
		coalesce((SELECT max(seq) FROM @.feed), 0), coalesce((SELECT xid::text FROM @.feed ORDER BY xid DESC LIMIT 1), '0')`,
		func(r pgx.Rows) error { return r.Scan(&f.seen, &now, &f.last, &f.xid) })
	f.at = life.Instant(now)
	return err
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// pullText reads what an earlier snapshot did not see. The first row is the present
// snapshot itself.
const pullText = `SELECT 0 AS seq, pg_current_snapshot()::text, ` + realNow + `,
		pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax($1::text::pg_snapshot), NULL::bytea, 0, ''
	UNION ALL (SELECT seq, '', 0, false, changes, origin, xid::text FROM @.feed
		WHERE xid >= least(pg_snapshot_xmin($1::text::pg_snapshot), $2::text::xid8) AND (seq > $3 OR NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot)))
	ORDER BY seq`

// pull reads the changes that are new and returns the cursor after them.
func (f *feed) pull(ctx context.Context, s *Store, q querier) (cursor int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rows, err := q.Query(ctx, s.sql(pullText), f.seen, f.xid, f.last)
	if err != nil {
		return 0, err
	}
	var seen string
	var at int64
	var back bool // this is another database, which knows less: one has failed over
	var news bool // something was written, perhaps by one who is gone: it has to be rolled up, or settled
	last, xid := f.last, f.xid
	var fresh []fairlead.Change
	err = each(rows, func(r pgx.Rows) error {
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
		if origin == s.origin {
			changes = foreign(changes)
		}
		fresh = append(fresh, changes...)
		return err
	})
	if err != nil {
		return 0, err
	}
	if news {
		s.roll.due(s)
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

// after returns changes after a cursor.
func (f *feed) after(cursor int64, most int) ([]fairlead.Change, int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.After(cursor, most)
}

// foreign leaves out of what this store has changed itself what only others have to hear.
func foreign(all []fairlead.Change) []fairlead.Change {
	kept := all[:0]
	for _, c := range all {
		switch c.What {
		case fairlead.Leased, fairlead.Ended, fairlead.Changed:
			continue
		case fairlead.Done:
			c.Runs = nil
		}
		kept = append(kept, c)
	}
	return kept
}

// wakes reports whether this process has to look at once for what it has changed itself. What
// it leased it knows; so it does of attempts that it ended, of which the feed tells it no more
// than that the job has ended: that it hears when it looks for something to put in the place.
func wakes(changes []fairlead.Change) bool {
	return slices.ContainsFunc(changes, func(c fairlead.Change) bool {
		switch c.What {
		case fairlead.Leased, fairlead.Ended, fairlead.Changed:
			return false
		case fairlead.Done:
			return len(c.Runs) == 0
		}
		return true
	})
}

// Changes implements fairlead.Store.
func (s *Store) Changes(ctx context.Context, cursor int64, most int) (out []fairlead.Change, next int64, err error) {
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := s.feed.pull(ctx, s, c)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return s.feed.after(cursor, most)
}
