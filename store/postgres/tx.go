package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// tx is one transaction. It collects statements and sends them together when a result is needed, or at the end. So a
// call on many jobs takes two trips to the database.
type tx struct {
	db     *database
	trip   *trip
	pools  poolNames
	jobs   jobRows
	tasks  taskRows
	ledger ledger

	origin   int64             // of its changes
	waitsFor map[int64][]int64 // dependents of jobs, as far as queried

	changes []queue.Change
	events  []queue.Event
	hint    bool // write to the feed even without changes, because there is something to settle
}

// newTx returns a transaction on a line, whose changes have an origin.
func newTx(ctx context.Context, db *database, known *knownPools, line line, origin int64) *tx {
	d := &trip{db: db, ctx: ctx, line: line, batch: &pgx.Batch{}}
	t := &tx{db: db, trip: d, origin: origin}
	t.pools, t.jobs, t.ledger = poolNames{known: known, trip: d}, jobRows{trip: d}, ledger{trip: d}
	t.tasks = taskRows{trip: d, jobs: &t.jobs}
	return t
}

// beginText sets the transaction up. The planner must not rely on its statistics, because tables are empty at one
// moment and large at the next. So rows are found by their keys. Statements leave the planner no other choice: they use
// LATERAL, or they have id = ANY beside the join. With that condition, the join is a hash join instead of a search row
// by row. (The planner considers disabled plans very costly, and therefore worth compiling, so jit is disabled, too.) A
// timeout keeps a process that is suspended in the middle from holding its locks forever.
const beginText = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('enable_nestloop', 'off', true),
	set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true), set_config('idle_in_transaction_session_timeout', '15s', true),
	` + nowText + `, id, half_life, reference, days FROM @.clock ORDER BY id DESC LIMIT 1`

// at returns the instant of the transaction for a statement, nil if only the database knows it yet.
func (t *tx) at() *int64 {
	if t.trip.now.IsZero() {
		return t.db.now()
	}
	n := life.Nanos(t.trip.now)
	return &n
}

// begin queues the statements that begin the transaction.
func (t *tx) begin() {
	t.trip.queue("BEGIN")
	var no string
	t.trip.ask(beginText, func(r pgx.Rows) error {
		var now, half, reference int64
		err := r.Scan(&no, &no, &no, &no, &no, &no, &now, &t.ledger.clockID, &half, &reference, &t.ledger.days)
		t.trip.now, t.ledger.clock = life.Instant(now), usage.NewClock(life.Instant(reference), time.Duration(half))
		return err
	}, t.db.now())
}

// report adds a change to the feed.
func (t *tx) report(c queue.Change) {
	c.At = t.trip.now
	t.changes = append(t.changes, c)
}

// note records an event.
func (t *tx) note(e queue.Event) { t.events = append(t.events, e) }

func (t *tx) noteAll(events []queue.Event) { t.events = append(t.events, events...) }
