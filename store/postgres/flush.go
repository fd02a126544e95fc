package postgres

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// delta is what a transaction changes in the counters and the account of a pool.
type delta struct {
	waiting, running, ended   int64
	used, seen, length, total float64
}

// dayKey is the key of what a pool received on a day.
type dayKey struct {
	pool int32
	day  int64
}

func (t *tx) delta(pool int32) *delta {
	if t.deltas == nil {
		t.deltas = map[int32]*delta{}
	}
	d := t.deltas[pool]
	if d == nil {
		d = &delta{}
		t.deltas[pool] = d
	}
	return d
}

// count adds to the counters of a pool.
func (t *tx) count(pool int32, waiting, running int) {
	d := t.delta(pool)
	d.waiting += int64(waiting)
	d.running += int64(running)
}

// charge books the service of an attempt that ends now, and counts its task out. After a
// failover the database's clock may be behind.
func (t *tx) charge(pool int32, rate float64, started, ended time.Time, learn bool) error {
	if life.Outgrown(t.clock, t.now) {
		if err := t.rebase(t.clock.HalfLife()); err != nil {
			return err
		}
	}
	if ended.Before(started) {
		started = ended
	}
	if t.days > 0 {
		life.ByDay(rate, started, ended, life.Day(t.now)-int64(t.days)+1, func(day int64, amount float64) { t.bookDay(pool, day, amount) })
	}
	var a fairlead.Account
	life.Charge(&a, t.clock, rate, started, ended, learn)
	d := t.delta(pool)
	d.used += a.Used
	d.seen += a.Seen
	d.length += a.Mean * a.Seen
	d.total += a.Total
	d.ended += a.Ended
	d.running += a.Running
	return nil
}

func (t *tx) bookDay(pool int32, day int64, amount float64) {
	if t.byDay == nil {
		t.byDay = map[dayKey]float64{}
	}
	t.byDay[dayKey{pool, day}] += amount
}

// tell adds a change to the feed.
func (t *tx) tell(c fairlead.Change) {
	c.At = t.now
	t.changes = append(t.changes, c)
}

// note keeps an event.
func (t *tx) note(e fairlead.Event) { t.events = append(t.events, e) }

// flush gathers statements that write what was changed in memory.
func (t *tx) flush() error {
	if err := t.saveTasks(); err != nil {
		return err
	}
	if err := t.saveRows(); err != nil {
		return err
	}
	t.flushEvents()
	t.flushDeltas()
	t.flushDays()
	if len(t.changes) == 0 && !t.hint {
		return nil
	}
	text, err := encode(t.changes)
	t.queue(`INSERT INTO @.feed (changes, origin) VALUES ($1, $2)`, text, t.s.origin)
	return err
}

// deltaPools is how many pools a row of delta has at most, so that it stays on its page.
const deltaPools = 24

func (t *tx) flushDeltas() {
	pools := make([]int32, 0, len(t.deltas))
	for id, d := range t.deltas {
		if *d != (delta{}) {
			pools = append(pools, id)
		}
	}
	for some := range slices.Chunk(pools, deltaPools) {
		t.queue(`INSERT INTO @.delta (clock, pools, waiting, running, used, seen, length, total, ended) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			t.clockID, some, column(t, some, func(d *delta) int64 { return d.waiting }), column(t, some, func(d *delta) int64 { return d.running }),
			column(t, some, func(d *delta) float64 { return d.used }), column(t, some, func(d *delta) float64 { return d.seen }),
			column(t, some, func(d *delta) float64 { return d.length }), column(t, some, func(d *delta) float64 { return d.total }),
			column(t, some, func(d *delta) int64 { return d.ended }))
	}
}

// column is what changes of one thing for some pools, nil if nothing does.
func column[N int64 | float64](t *tx, pools []int32, of func(*delta) N) []N {
	out := make([]N, len(pools))
	any := false
	for i, id := range pools {
		out[i] = of(t.deltas[id])
		any = any || out[i] != 0
	}
	if !any {
		return nil
	}
	return out
}

func (t *tx) flushDays() {
	var pools []int32
	var days []int64
	var used []float64
	for k, amount := range t.byDay {
		pools, days, used = append(pools, k.pool), append(days, k.day), append(used, amount)
	}
	t.byDay = nil
	if len(pools) > 0 {
		t.queue(`INSERT INTO @.day_delta (pool, day, used) SELECT * FROM unnest($1::int[], $2::bigint[], $3::float8[])`, pools, days, used)
	}
}

func (t *tx) flushEvents() {
	if len(t.events) == 0 {
		return
	}
	var jobs, at []int64
	var task []int32
	var code, text []string
	for _, e := range t.events {
		jobs, at, task = append(jobs, e.Job), append(at, life.Nanos(e.At)), append(task, int32(e.Task))
		code, text = append(code, e.Code), append(text, e.Text)
	}
	t.events = nil
	t.queue(`INSERT INTO @.event (job, task, at, code, text) SELECT * FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[], $5::text[])`,
		jobs, task, at, code, text)
}

// leases are rows of the table lease, by who holds them.
type leases map[string]*held

type held struct {
	until time.Time
	jobs  []int64
}

func (l leases) add(k *fairlead.Task) {
	h := l[k.Holder]
	if h == nil {
		h = &held{until: k.Until}
		l[k.Holder] = h
	}
	h.jobs = append(h.jobs, k.Job)
}

// hold notes when to look at leases that were given in one call.
func (t *tx) hold(l leases) {
	for holder, h := range l {
		t.queue(`INSERT INTO @.lease (until, holder, jobs) VALUES ($1, $2, $3)`, life.Nanos(h.until), holder, h.jobs)
	}
}

// forget gives back what tasks held that are over, in the order of their keys.
func (t *tx) forget(refs []fairlead.Ref) {
	if len(refs) == 0 {
		return
	}
	refs = slices.SortedFunc(slices.Values(refs), byTask)
	var jobs []int64
	var tasks []int32
	for _, r := range refs {
		jobs, tasks = append(jobs, r.JobID), append(tasks, int32(r.Task))
	}
	t.queue(`DELETE FROM @.holding AS r USING unnest($1::bigint[], $2::int[]) AS v (job, task) WHERE r.job = v.job AND r.task = v.task AND r.job = ANY($1)`, jobs, tasks)
}
