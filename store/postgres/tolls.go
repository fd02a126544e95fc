package postgres

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/internal/life"
)

// The keys of rows in toll begin with what they are of.
const (
	ofRate = "rate "
	ofHeld = "held "
)

// tollKeys are the keys of what is asked for beside jobs, in order.
func tollKeys(tolls *life.Tolls) (keys []string) {
	if tolls == nil {
		return nil
	}
	for _, name := range tolls.Rates() {
		keys = append(keys, ofRate+name)
	}
	for _, of := range tolls.Held() {
		keys = append(keys, ofHeld+of)
	}
	slices.Sort(keys)
	return keys
}

// makeTolls sees to it that there are rows to be locked. It is done in a transaction of its
// own: one that locks what is there, and then adds what is not, would do so in another order
// than others do.
func (s *Store) makeTolls(ctx context.Context, keys []string) error {
	keys = slices.DeleteFunc(keys, func(key string) bool { _, known := s.tolls.Load(key); return known })
	if len(keys) == 0 {
		return nil
	}
	err := s.write(ctx, func(t *tx) error { t.addTolls(keys); return nil })
	for _, key := range keys {
		if err == nil {
			s.tolls.Store(key, true)
		}
	}
	return err
}

func (t *tx) addTolls(keys []string) {
	t.queue(`INSERT INTO @.toll (key) SELECT key FROM unnest($1::text[]) AS w (key) ON CONFLICT DO NOTHING`, keys)
}

// toll lets f grant those wants that their rates, and what they hold, admit. Whatever takes
// of the same is done one after the other, by the clock after the waiting: so the instants
// are in order, too. Whatever ends meanwhile counts as running still.
func (t *tx) toll(wants []fairlead.Want, out []fairlead.Grant, f func([]fairlead.Want, []fairlead.Grant) error) error {
	tolls := life.NewTolls(wants)
	if tolls == nil {
		return f(wants, out)
	}
	held, err := t.readTolls(tolls)
	if err != nil {
		return err
	}
	admitted, at := tolls.Admit(wants, out, t.now)
	granted := make([]fairlead.Grant, len(admitted))
	if err := f(admitted, granted); err != nil {
		return err
	}
	for i, g := range granted {
		out[at[i]] = g
	}
	t.keepRates(tolls.Settle(wants, out))
	if len(held) == 0 {
		return nil
	}
	return t.keepHolds(admitted, granted, held)
}

// sum is how much of something is held: as it was written, and as it is.
type sum struct{ was, is int64 }

// readTolls locks what is asked for and reads how it stands. It returns how much is held, by
// the key.
func (t *tx) readTolls(tolls *life.Tolls) (map[string]*sum, error) {
	keys, held := tollKeys(tolls), map[string]*sum{}
	for _, of := range tolls.Held() {
		held[ofHeld+of] = &sum{}
	}
	for locked := -1; locked < len(keys); {
		if locked >= 0 {
			t.addTolls(keys) // this is another database, which knows less: one has failed over
		}
		locked = 0
		t.ask(`SELECT r.* FROM unnest($1::text[]) AS w (key), LATERAL (
				SELECT held, `+rateColumns+` FROM @.toll WHERE toll.key = w.key FOR UPDATE) AS r`, func(r pgx.Rows) error {
			locked++
			var amount int64
			key, state, err := scanRate(r, &amount)
			if h := held[key]; h != nil {
				h.was = amount
			} else if state.Limit.Count > 0 {
				tolls.Stands(state)
			}
			return err
		}, keys)
		t.ask(`SELECT `+laterNow, func(r pgx.Rows) error {
			var now int64
			err := r.Scan(&now)
			t.now = life.Instant(now)
			return err
		}, t.s.now())
		if len(held) > 0 {
			t.ask(`DELETE FROM @.freed WHERE key = ANY($1) RETURNING key, amount`, func(r pgx.Rows) error {
				var key string
				var amount int64
				err := r.Scan(&key, &amount)
				held[key].is -= amount
				return err
			}, keys)
		}
		if err := t.do(); err != nil {
			return nil, err
		}
	}
	for _, of := range tolls.Held() {
		h := held[ofHeld+of]
		h.is += h.was
		tolls.Holds(of, h.is)
	}
	return held, nil
}

// laterNow is the time in SQL when the statement begins, of which the first parameter is a
// clock that was given.
const laterNow = `coalesce($1::bigint, ` + realNow + `)`

const rateColumns = `key, count, per, burst, full_at, taken, taken_at`

// scanRate reads a row of toll, and where the rate stands that it is of, if it is.
func scanRate(rows pgx.Rows, before ...any) (key string, r sched.RateState, err error) {
	var full, at int64
	err = rows.Scan(append(before, &key, &r.Limit.Count, &r.Limit.Per, &r.Limit.Burst, &full, &r.Taken, &at)...)
	r.Full, r.At = life.Instant(full), life.Instant(at)
	r.Name = strings.TrimPrefix(key, ofRate)
	return key, r, err
}

// keepRates writes where rates stand, with the transaction.
func (t *tx) keepRates(states []sched.RateState) {
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
	t.queue(`UPDATE @.toll SET count = v.count, per = v.per, burst = v.burst, full_at = v.full_at, taken = v.taken, taken_at = $7
		FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) AS v (key, count, per, burst, full_at, taken)
		WHERE toll.key = v.key AND toll.key = ANY($1)`, keys, count, per, burst, full, taken, life.Nanos(t.now))
}

// keepHolds writes what leases hold, with the transaction, and the sums.
func (t *tx) keepHolds(wants []fairlead.Want, granted []fairlead.Grant, held map[string]*sum) error {
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
			held[ofHeld+h.Of].is += h.Amount * int64(len(leases))
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
		t.queue(`INSERT INTO @.holding (job, task, holds) SELECT job, task, holds::jsonb FROM unnest($1::bigint[], $2::int[], $3::text[]) AS v (job, task, holds)`, jobs, tasks, holds)
	}
	t.keepSums(held)
	return nil
}

func (t *tx) keepSums(held map[string]*sum) {
	var keys []string
	var amounts []int64
	for key, h := range held {
		if h.is != h.was {
			keys, amounts = append(keys, key), append(amounts, h.is)
		}
	}
	if len(keys) > 0 {
		t.queue(`UPDATE @.toll SET held = v.held FROM unnest($1::text[], $2::bigint[]) AS v (key, held) WHERE toll.key = v.key AND toll.key = ANY($1)`,
			keys, amounts)
	}
}

// Shared implements fairlead.Sharer.
func (s *Store) Shared() bool { return true }

// Rates implements fairlead.RateKeeper.
func (s *Store) Rates(ctx context.Context) (out []sched.RateState, err error) {
	err = s.query(ctx, `SELECT `+laterNow+`, `+rateColumns+` FROM @.toll WHERE taken_at > 0 ORDER BY key`, func(rows pgx.Rows) error {
		var now int64
		_, r, err := scanRate(rows, &now)
		r.Resume(r.Limit, life.Instant(now))
		out = append(out, r)
		return err
	}, s.now())
	return out, err
}
