package sqlite

import (
	"maps"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
)

// tx is one transaction of the writer. Its effects on memory are applied when it is on disk.
type tx struct {
	mem     *memory
	conn    *sqlite.Conn
	now     time.Time
	numbers numbers
	ledger  ledger

	changes []queue.Change
	awaited map[int64]bool // jobs that got new dependents
	steps   []func(*memory)
}

func newTx(m *memory, conn *sqlite.Conn, now time.Time) *tx {
	return &tx{
		mem: m, conn: conn, now: now,
		numbers: numbers{known: &m.catalog, conn: conn, now: now},
		ledger:  ledger{before: m.accounts, kept: m.days, conn: conn, now: now, clock: m.clock},
	}
}

// then schedules a change of memory for after the commit.
func (t *tx) then(f func(*memory)) { t.steps = append(t.steps, f) }

// apply runs in the writer's goroutine after a commit.
func (t *tx) apply() {
	m := t.mem
	m.mu.Lock()
	defer m.mu.Unlock()
	for path, id := range t.numbers.pools {
		m.catalog.pools[path], m.catalog.paths[id], m.since[id], m.makers[id] = id, path, t.now, t.numbers.makers[id]
	}
	for text, id := range t.numbers.requestIDs {
		m.catalog.requestIDs[text], m.catalog.requests[id] = id, parseRequest(text)
	}
	m.clock = t.ledger.clock
	maps.Copy(m.accounts, t.ledger.accounts)
	for id, d := range t.ledger.counters {
		c := m.counters[id]
		if c == nil {
			c = &queue.Counters{}
			m.counters[id] = c
		}
		c.Waiting += d.Waiting
		c.Running += d.Running
	}
	for _, f := range t.steps {
		f(m)
	}
	for _, c := range t.changes {
		m.feed.Add(c)
	}
}

// flush writes the sums of the transaction.
func (t *tx) flush() error {
	if t.ledger.rebased {
		if err := t.ledger.save(); err != nil {
			return err
		}
	}
	for id, a := range t.ledger.accounts {
		stmt := t.conn.Prep(`UPDATE pool SET used = ?, mean = ?, seen = ?, total = ?, ended = ? WHERE id = ?`)
		stmt.BindFloat(1, a.used)
		stmt.BindFloat(2, a.mean)
		stmt.BindFloat(3, a.seen)
		stmt.BindFloat(4, a.total)
		stmt.BindInt64(5, a.ended)
		stmt.BindInt64(6, id)
		if err := exec(stmt); err != nil {
			return err
		}
	}
	return t.ledger.flushDays()
}

// report adds a change to the feed.
func (t *tx) report(c queue.Change) {
	c.At = t.now
	t.changes = append(t.changes, c)
}
