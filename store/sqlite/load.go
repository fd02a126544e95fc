package sqlite

import (
	"errors"
	"strconv"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// load reads the data that a process needs to continue, and extends the leases that it finds by a grace period.
func (m *memory) load(conn *sqlite.Conn, grace time.Duration) error {
	m.clock = usage.NewClock(time.Now(), 0)
	return errors.Join(
		m.loadClock(conn),
		each(conn, `SELECT id, path, used, mean, seen, total, ended, since, maker FROM pool`, func(r *sqlite.Stmt) {
			id, path := r.ColumnInt64(0), r.ColumnText(1)
			m.catalog.pools[path], m.catalog.paths[id] = id, path
			m.accounts[id] = account{r.ColumnFloat(2), r.ColumnFloat(3), r.ColumnFloat(4), r.ColumnFloat(5), r.ColumnInt64(6)}
			m.since[id], m.makers[id] = life.Instant(r.ColumnInt64(7)), r.ColumnText(8)
		}),
		each(conn, `SELECT id, request FROM shape`, func(r *sqlite.Stmt) {
			m.catalog.requestIDs[r.ColumnText(1)], m.catalog.requests[r.ColumnInt64(0)] = r.ColumnInt64(0), parseRequest(r.ColumnText(1))
		}),
		each(conn, `SELECT pool, sum(waiting), sum(running) FROM job WHERE open = 1 GROUP BY pool`, func(r *sqlite.Stmt) {
			m.counters[r.ColumnInt64(0)] = &queue.Counters{Waiting: r.ColumnInt64(1), Running: r.ColumnInt64(2)}
		}),
		each(conn, `SELECT on_job, count(*) FROM depends GROUP BY on_job`, func(r *sqlite.Stmt) {
			m.awaited[r.ColumnInt64(0)] = r.ColumnInt(1)
		}),
		m.loadRuns(conn, grace),
	)
}

func (m *memory) loadRuns(conn *sqlite.Conn, grace time.Duration) error {
	until := time.Now().Add(grace)
	add := func(r *sqlite.Stmt) {
		ref := queue.Ref{JobID: r.ColumnInt64(0), Task: r.ColumnInt(1), Attempt: r.ColumnInt(2)}
		m.runs[taskKey{ref.JobID, ref.Task}] = &lease{ref: ref, holder: r.ColumnText(3), until: until}
	}
	return errors.Join(
		each(conn, `SELECT id, 0, attempt, holder FROM job WHERE open = 1 AND running = 1 AND tasks = 1`, add),
		each(conn, `SELECT task.job, idx, task.attempt, task.holder FROM job JOIN task ON task.job = job.id
			WHERE job.open = 1 AND job.running > 0 AND job.tasks > 1 AND task.t_state = 3`, add),
	)
}

// loadClock reads the half-life and the reference of the amounts in the pools.
func (m *memory) loadClock(conn *sqlite.Conn) error {
	values := map[string]int64{}
	err := each(conn, `SELECT key, value FROM meta`, func(r *sqlite.Stmt) {
		if n, err := strconv.ParseInt(r.ColumnText(1), 10, 64); err == nil {
			values[r.ColumnText(0)] = n
		}
	})
	m.days = int(values[daysKept])
	if ref, ok := values["reference"]; ok {
		m.clock = usage.NewClock(time.Unix(0, ref), time.Duration(values["half_life"]))
	}
	return err
}
