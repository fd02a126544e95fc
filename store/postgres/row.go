package postgres

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// row is a job as stored in its row.
type row struct {
	queue.Job
	pool           int32
	next, returned int
	one            queue.Task // the task of a job that has one
	fresh          bool       // just submitted, and not in the database yet
	wasEnded       bool       // is in the table of ended jobs
	respec         bool       // fields that hardly ever change have changed
}

// columns are the columns that scan reads, in its order. NULL is read as 0 or empty.
const columns = `j.id, j.pool, p.path, j.state, j.username, j.kind, j.priority, j.spec, j.payload, coalesce(j.not_before, 0),
	coalesce(j.most, 0), j.tasks, coalesce(j.next, 0), coalesce(j.returned, 0), coalesce(j.held, false), coalesce(j.pending, 0),
	coalesce(j.cancel, false), j.waiting, coalesce(j.running, 0), coalesce(j.queued, 0), coalesce(j.succeeded, 0), coalesce(j.failed, 0),
	coalesce(j.cancelled, 0), j.submitted, coalesce(j.started, 0), coalesce(j.ended, 0), coalesce(j.cause, ''),
	coalesce(j.attempt, 0), coalesce(j.holder, ''), j.t_state, coalesce(j.t_begin, 0), coalesce(j.t_started, 0),
	coalesce(j.t_ended, 0), coalesce(j.fails, 0), coalesce(j.losses, 0), coalesce(j.again, 0), coalesce(j.outcome, ''),
	coalesce(j.charge, 0), coalesce(j.until, 0)`

// scan reads a job.
func scan(rows pgx.Rows) (*row, error) {
	r := &row{}
	j := &r.Job
	var state, begin, submitted, started, ended int64
	var spec []byte
	k := &r.one
	var t taskColumns
	err := rows.Scan(append([]any{
		&j.ID, &r.pool, &j.Pool, &state, &j.User, &j.Kind, &j.Priority, &spec, &j.Payload, &begin, &j.MaxRunning,
		&j.Tasks, &r.next,
		&r.returned, &j.Held, &j.Pending, &j.Cancel, &j.Waiting, &j.Running, &j.Queued, &j.Succeeded, &j.Failed, &j.Cancelled,
		&submitted, &started, &ended, &j.Cause}, t.into(k)...)...)
	if err != nil {
		return nil, err
	}
	j.State = life.StateOf(int(state))
	j.Begin, j.Submitted, j.Started, j.Ended = life.Instant(begin), life.Instant(submitted), life.Instant(started), life.Instant(ended)
	if err := life.ReadSpec(spec, j); err != nil {
		return nil, err
	}
	if j.Tasks > 1 {
		r.one = queue.Task{}
		return r, nil
	}
	k.Job, k.Number = j.ID, j.Numbers().At(0)
	return r, t.finish(k)
}

// taskColumns are the columns of a task that need conversion.
type taskColumns struct {
	state, begin, started, ended, until int64
	again                               int
	outcome                             string
}

// into returns the destinations of a task's columns, from attempt on.
func (c *taskColumns) into(t *queue.Task) []any {
	return []any{&t.Attempt, &t.Holder, &c.state, &c.begin, &c.started, &c.ended, &t.Fails, &t.Losses, &c.again,
		&c.outcome, &t.Charge, &c.until}
}

func (c *taskColumns) finish(t *queue.Task) error {
	t.State = life.StateOf(int(c.state))
	t.Begin, t.Started, t.Ended = life.Instant(c.begin), life.Instant(c.started), life.Instant(c.ended)
	if t.State == queue.Running {
		t.Until = life.Instant(c.until)
	}
	life.SetAgain(t, c.again)
	return life.ReadOutcome(c.outcome, t)
}

// jobRows are the jobs that a transaction has read.
type jobRows struct {
	trip  *trip
	all   map[int64]*row
	dirty map[int64]bool // must be written
}

// keep remembers a row that was read.
func (x *jobRows) keep(rows pgx.Rows) error {
	r, err := scan(rows)
	if err != nil {
		return err
	}
	if x.all == nil {
		x.all = map[int64]*row{}
	}
	if x.all[r.ID] == nil {
		x.all[r.ID] = r
	}
	return nil
}

// lockText reads jobs and locks them. All code locks rows in the order of their ids.
const lockText = `SELECT ` + columns + ` FROM unnest($1::bigint[]) AS w (id),
	LATERAL (SELECT * FROM @.job WHERE job.id = w.id FOR UPDATE) AS j, LATERAL (SELECT path FROM @.pool WHERE pool.id = j.pool OFFSET 0) AS p`

// ask queries jobs that have not ended, with the next do.
func (x *jobRows) ask(ids []int64) {
	if ids = x.unknown(ids); len(ids) > 0 {
		x.trip.ask(lockText, x.keep, ids)
	}
}

// unknown returns the jobs without a row, sorted.
func (x *jobRows) unknown(ids []int64) (out []int64) {
	for _, id := range ids {
		if x.all[id] == nil {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// loadEnded looks for the jobs that were not found among the open ones, and reads them from the
// ended ones.
func (x *jobRows) loadEnded(ids []int64) error {
	for range 2 { // a job may have been requeued in between
		missing := x.unknown(ids)
		if len(missing) == 0 {
			return nil
		}
		x.trip.ask(`SELECT `+columns+` FROM unnest($1::bigint[]) AS w (id),
			LATERAL (SELECT * FROM @.ended WHERE ended.id = w.id FOR UPDATE) AS j, LATERAL (SELECT path FROM @.pool WHERE pool.id = j.pool OFFSET 0) AS p`,
			func(rows pgx.Rows) error {
				err := x.keep(rows)
				return err
			}, missing)
		if err := x.trip.do(); err != nil {
			return err
		}
		for _, id := range missing {
			if r := x.all[id]; r != nil {
				r.wasEnded = true
			}
		}
		x.ask(missing)
		if err := x.trip.do(); err != nil {
			return err
		}
	}
	return nil
}

// save marks a job as changed, so that write writes it.
func (x *jobRows) save(r *row) {
	if x.dirty == nil {
		x.dirty = map[int64]bool{}
	}
	x.dirty[r.ID] = true
}

// jobColumns are columns of jobs that change, one element for each job.
type jobColumns struct {
	id, begin, started, ended, tBegin, tStarted, tEnded, until         []int64
	pool, next, returned, pending, waiting, running, succeeded, failed []int32
	cancelled, attempt, fails, losses, queued                          []int32
	state, tState, again                                               []int16
	held, cancel                                                       []bool
	priority, cause, holder, outcome                                   []string
	charge                                                             []float64
}

func (c *jobColumns) add(r *row) error {
	j, k := &r.Job, &r.one
	outcome, err := life.OutcomeText(k.Outcome)
	if err != nil {
		return err
	}
	state := k.State
	if state == "" {
		state = queue.Waiting
	}
	c.id, c.begin = append(c.id, j.ID), append(c.begin, life.Nanos(j.Begin))
	c.started, c.ended = append(c.started, life.Nanos(j.Started)), append(c.ended, life.Nanos(j.Ended))
	c.tBegin, c.tStarted = append(c.tBegin, life.Nanos(k.Begin)), append(c.tStarted, life.Nanos(k.Started))
	c.tEnded = append(c.tEnded, life.Nanos(k.Ended))
	c.pool, c.next = append(c.pool, r.pool), append(c.next, int32(r.next))
	c.returned = append(c.returned, int32(r.returned))
	c.pending, c.waiting = append(c.pending, int32(j.Pending)), append(c.waiting, int32(j.Waiting))
	c.running = append(c.running, int32(j.Running))
	c.succeeded, c.failed = append(c.succeeded, int32(j.Succeeded)), append(c.failed, int32(j.Failed))
	c.cancelled = append(c.cancelled, int32(j.Cancelled))
	c.attempt, c.fails = append(c.attempt, int32(k.Attempt)), append(c.fails, int32(k.Fails))
	c.losses = append(c.losses, int32(k.Losses))
	c.state = append(c.state, int16(life.StateNumber(j.State)))
	c.tState = append(c.tState, int16(life.StateNumber(state)))
	c.again, c.held = append(c.again, int16(life.AgainBits(k))), append(c.held, j.Held)
	c.cancel = append(c.cancel, j.Cancel)
	c.priority, c.cause = append(c.priority, j.Priority), append(c.cause, j.Cause)
	c.holder, c.outcome = append(c.holder, k.Holder), append(c.outcome, outcome)
	c.charge, c.until = append(c.charge, k.Charge), append(c.until, life.Nanos(k.Until))
	c.queued = append(c.queued, int32(j.Queued))
	return nil
}

const saveText = `UPDATE @.job SET not_before = v.not_before, started = v.started, ended = v.ended, t_begin = v.t_begin, t_started = v.t_started,
	t_ended = v.t_ended, pool = v.pool, next = v.next, returned = v.returned, pending = v.pending, waiting = v.waiting,
	running = v.running, succeeded = v.succeeded, failed = v.failed, cancelled = v.cancelled, attempt = v.attempt,
	fails = v.fails, losses = v.losses, state = v.state, t_state = v.t_state, again = v.again, held = v.held,
	cancel = v.cancel, priority = v.priority, cause = v.cause, holder = v.holder, outcome = v.outcome, charge = v.charge, until = v.until, queued = v.queued
	FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[], $9::int[],
		$10::int[], $11::int[], $12::int[], $13::int[], $14::int[], $15::int[], $16::int[], $17::int[], $18::int[], $19::int[],
		$20::smallint[], $21::smallint[], $22::smallint[], $23::bool[], $24::bool[], $25::text[], $26::text[], $27::text[], $28::text[], $29::float8[], $30::bigint[], $31::int[])
	AS v (id, not_before, started, ended, t_begin, t_started, t_ended, pool, next, returned, pending, waiting, running, succeeded, failed,
		cancelled, attempt, fails, losses, state, t_state, again, held, cancel, priority, cause, holder, outcome, charge, until, queued)
	WHERE job.id = v.id AND job.id = ANY($1)`

// write writes the changed jobs, ended ones to the table of ended jobs.
func (x *jobRows) write() error {
	var c jobColumns
	var over, back, respec []int64
	var specs [][]byte
	for _, id := range sorted(x.dirty) {
		r := x.all[id]
		if err := c.add(r); err != nil {
			return err
		}
		if r.wasEnded {
			back = append(back, id)
		}
		if r.State.Ended() {
			over = append(over, id)
		}
		if r.respec {
			spec, err := life.SpecText(&r.Job)
			if err != nil {
				return err
			}
			respec, specs = append(respec, id), append(specs, spec)
		}
	}
	x.dirty = nil
	if len(back) > 0 {
		x.trip.queue(`WITH d AS (DELETE FROM @.ended WHERE id = ANY($1) RETURNING *) INSERT INTO @.job SELECT * FROM d`, back)
	}
	if len(c.id) > 0 {
		x.trip.queue(saveText, c.id, c.begin, c.started, c.ended, c.tBegin, c.tStarted, c.tEnded, c.pool, c.next, c.returned,
			c.pending, c.waiting,
			c.running, c.succeeded, c.failed, c.cancelled, c.attempt, c.fails, c.losses, c.state, c.tState, c.again, c.held, c.cancel,
			c.priority, c.cause, c.holder, c.outcome, c.charge, c.until, c.queued)
	}
	if len(respec) > 0 {
		x.trip.queue(`UPDATE @.job SET spec = v.spec FROM unnest($1::bigint[], $2::bytea[]) AS v (id, spec) WHERE job.id = v.id AND job.id = ANY($1)`, respec, specs)
	}
	if len(over) > 0 {
		x.trip.queue(`WITH d AS (DELETE FROM @.job WHERE id = ANY($1) RETURNING *) INSERT INTO @.ended SELECT * FROM d`, over)
		x.trip.queue(`INSERT INTO @.ending (at, jobs) VALUES ($1, $2)`, life.Nanos(x.trip.now), over)
	}
	return nil
}

// sorted returns the keys of a set, in order.
func sorted[V any](set map[int64]V) []int64 {
	out := make([]int64, 0, len(set))
	for id := range set {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
