package postgres

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/internal/life"
)

// The keys of rows in quota begin with their kind.
const (
	ofRate = "rate "
	ofHeld = "held "
)

// limitKeys returns the keys of the licenses and rates that claims request, in order.
func limitKeys(limits *life.Limits) (keys []string) {
	if limits == nil {
		return nil
	}
	for _, name := range limits.Rates() {
		keys = append(keys, ofRate+name)
	}
	for _, of := range limits.Held() {
		keys = append(keys, ofHeld+of)
	}
	slices.Sort(keys)
	return keys
}

// limitRows ensures that there are rows to be locked.
type limitRows struct {
	writer *writer
	known  sync.Map // keys of existing rows
}

// make creates missing rows. It uses its own transaction, because a transaction that locked existing rows and then
// added missing ones would lock in a different order than others.
func (r *limitRows) make(ctx context.Context, keys []string) error {
	keys = slices.DeleteFunc(keys, func(key string) bool { _, known := r.known.Load(key); return known })
	if len(keys) == 0 {
		return nil
	}
	err := r.writer.do(ctx, func(t *tx) error { t.addLimitRows(keys); return nil })
	for _, key := range keys {
		if err == nil {
			r.known.Store(key, true)
		}
	}
	return err
}

func (t *tx) addLimitRows(keys []string) {
	t.trip.queue(`INSERT INTO @.quota (key) SELECT key FROM unnest($1::text[]) AS w (key) ON CONFLICT DO NOTHING`, keys)
}

// admission checks wants against the limits of their rates, and against the limits of the amounts that they hold.
type admission struct {
	t      *tx
	limits *life.Limits    // nil: the wants request only jobs
	held   map[string]*sum // by the key
}

// grant calls f to grant the admitted wants. Claims on the same limits run one after the other, and read the clock
// after their wait, so their instants are in order, too. Attempts that end meanwhile still count as running.
func (a *admission) grant(wants []queue.Want, out []queue.Grant, f func([]queue.Want, []queue.Grant) error) error {
	if a.limits == nil {
		return f(wants, out)
	}
	if err := a.read(); err != nil {
		return err
	}
	admitted, at := a.limits.Admit(wants, out, a.t.trip.now)
	granted := make([]queue.Grant, len(admitted))
	if err := f(admitted, granted); err != nil {
		return err
	}
	for i, g := range granted {
		out[at[i]] = g
	}
	a.keepRates(a.limits.Settle(wants, out))
	if len(a.held) == 0 {
		return nil
	}
	return a.keepHolds(admitted, granted)
}

// sum is the amount that is held of a limit: as stored, and as changed.
type sum struct{ was, is int64 }

// read locks the rows that claims request and reads their state.
func (a *admission) read() error {
	keys, held := limitKeys(a.limits), map[string]*sum{}
	a.held = held
	for _, of := range a.limits.Held() {
		held[ofHeld+of] = &sum{}
	}
	for locked := -1; locked < len(keys); {
		if locked >= 0 {
			a.t.addLimitRows(keys) // after a failover, this database lacks them
		}
		locked = 0
		a.t.trip.ask(`SELECT r.* FROM unnest($1::text[]) AS w (key), LATERAL (
				SELECT held, `+rateColumns+` FROM @.quota WHERE quota.key = w.key FOR UPDATE) AS r`, func(r pgx.Rows) error {
			locked++
			var amount int64
			key, state, err := scanRate(r, &amount)
			if h := held[key]; h != nil {
				h.was = amount
			} else if state.Limit.Count > 0 {
				a.limits.Stands(state)
			}
			return err
		}, keys)
		a.t.trip.ask(`SELECT `+laterNow, func(r pgx.Rows) error {
			var now int64
			err := r.Scan(&now)
			a.t.trip.now = life.Instant(now)
			return err
		}, a.t.db.now())
		if len(held) > 0 {
			a.t.trip.ask(`DELETE FROM @.freed WHERE key = ANY($1) RETURNING key, amount`, func(r pgx.Rows) error {
				var key string
				var amount int64
				err := r.Scan(&key, &amount)
				held[key].is -= amount
				return err
			}, keys)
		}
		if err := a.t.trip.do(); err != nil {
			return err
		}
	}
	for _, of := range a.limits.Held() {
		h := held[ofHeld+of]
		h.is += h.was
		a.limits.Holds(of, h.is)
	}
	return nil
}

const rateColumns = `key, count, per, burst, full_at, taken, taken_at`

// scanRate reads a row of quota, and the state of its rate, if it has one.
func scanRate(rows pgx.Rows, before ...any) (key string, r sched.RateState, err error) {
	var full, at int64
	err = rows.Scan(append(before, &key, &r.Limit.Count, &r.Limit.Per, &r.Limit.Burst, &full, &r.Taken, &at)...)
	r.Full, r.At = life.Instant(full), life.Instant(at)
	r.Name = strings.TrimPrefix(key, ofRate)
	return key, r, err
}

// keepRates writes the states of rates with the transaction.
func (a *admission) keepRates(states []sched.RateState) {
	if len(states) == 0 {
		return
	}
	var keys []string
	var count, per, burst, full, taken []int64
	for _, r := range states {
		keys = append(keys, ofRate+r.Name)
		count, per, burst = append(count, r.Limit.Count), append(per, int64(r.Limit.Per)), append(burst, r.Limit.Burst)
		full, taken = append(full, life.Nanos(r.Full)), append(taken, r.Taken)
	}
	a.t.trip.queue(`UPDATE @.quota SET count = v.count, per = v.per, burst = v.burst, full_at = v.full_at, taken = v.taken, taken_at = $7
		FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS v (key, count, per, burst, full_at, taken)
		WHERE quota.key = v.key AND quota.key = ANY($1)`, keys, count, per, burst, full, taken, life.Nanos(a.t.trip.now))
}

// keepHolds writes, with the transaction, the amounts that leases hold, and their sums.
func (a *admission) keepHolds(wants []queue.Want, granted []queue.Grant) error {
	var jobs []int64
	var tasks []int32
	var holds []string
	for i, w := range wants {
		leases := life.Leases(granted[i])
		if len(w.Holds) == 0 || len(leases) == 0 {
			continue
		}
		amounts := make(map[string]int64, len(w.Holds))
		for _, h := range w.Holds {
			amounts[ofHeld+h.Of] += h.Amount
			a.held[ofHeld+h.Of].is += h.Amount * int64(len(leases))
		}
		text, err := json.Marshal(amounts)
		if err != nil {
			return err
		}
		for _, l := range leases {
			jobs, tasks, holds = append(jobs, l.JobID), append(tasks, int32(l.Task)), append(holds, string(text))
		}
	}
	if len(jobs) > 0 {
		a.t.trip.queue(`INSERT INTO @.holding (job, task, holds) SELECT job, task, holds::jsonb FROM unnest($1::bigint[], $2::int[], $3::text[]) AS v (job, task, holds)`, jobs, tasks, holds)
	}
	a.keepSums()
	return nil
}

// keepSums writes the held amounts that have changed.
func (a *admission) keepSums() {
	var keys []string
	var amounts []int64
	for key, h := range a.held {
		if h.is != h.was {
			keys, amounts = append(keys, key), append(amounts, h.is)
		}
	}
	if len(keys) > 0 {
		a.t.trip.queue(`UPDATE @.quota SET held = v.held FROM unnest($1::text[], $2::bigint[]) AS v (key, held) WHERE quota.key = v.key AND quota.key = ANY($1)`,
			keys, amounts)
	}
}
