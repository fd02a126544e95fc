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
	if err := t.readTolls(tolls); err != nil {
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
	return t.keepHolds(admitted, granted)
}

// readTolls locks what is asked for and reads how it stands.
func (t *tx) readTolls(tolls *life.Tolls) error {
	keys, held := tollKeys(tolls), tolls.Held()
	for {
		locked, amounts := 0, map[string]int64{}
		t.ask(`SELECT r.* FROM unnest($1::text[]) AS w (key), LATERAL (
				SELECT `+rateColumns+` FROM @.toll WHERE toll.key = w.key FOR UPDATE) AS r`, func(r pgx.Rows) error {
			locked++
			state, is, err := scanRate(r)
			if is {
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
			t.ask(`SELECT w.of, sum((r.holds ->> w.of)::bigint)::bigint FROM unnest($1::text[]) AS w (of), LATERAL (
				SELECT holds FROM @.running WHERE holds ? w.of OFFSET 0) AS r GROUP BY w.of`, func(r pgx.Rows) error {
				var of string
				var amount int64
				err := r.Scan(&of, &amount)
				amounts[of] = amount
				return err
			}, held)
		}
		if err := t.do(); err != nil {
			return err
		}
		if locked == len(keys) {
			for of, amount := range amounts {
				tolls.Holds(of, amount)
			}
			return nil
		}
		t.addTolls(keys) // this is another database, which knows less: one has failed over
	}
}

// laterNow is the time in SQL when the statement begins, of which the first parameter is a
// clock that was given.
const laterNow = `coalesce($1::bigint, ` + realNow + `)`

const rateColumns = `key, count, per, burst, full_at, taken, taken_at`

// scanRate reads where a rate stands, if the row is that of a rate that was used.
func scanRate(rows pgx.Rows, before ...any) (r sched.RateState, is bool, err error) {
	var key string
	var full, at int64
	err = rows.Scan(append(before, &key, &r.Limit.Count, &r.Limit.Per, &r.Limit.Burst, &full, &r.Taken, &at)...)
	r.Full, r.At = life.Instant(full), life.Instant(at)
	r.Name, is = strings.CutPrefix(key, ofRate)
	return r, is && at > 0, err
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

// keepHolds writes what leases hold, with the transaction. With them it goes.
func (t *tx) keepHolds(wants []fairlead.Want, granted []fairlead.Grant) error {
	var jobs []int64
	var tasks []int32
	var holds []string
	for i, w := range wants {
		if len(w.Holds) == 0 {
			continue
		}
		amounts := make(map[string]int64, len(w.Holds))
		for _, h := range w.Holds {
			amounts[h.Of] += h.Amount
		}
		text, err := json.Marshal(amounts)
		if err != nil {
			return err
		}
		for _, l := range life.Leases(granted[i]) {
			jobs, tasks, holds = append(jobs, l.JobID), append(tasks, int32(l.Task)), append(holds, string(text))
		}
	}
	if len(jobs) > 0 {
		t.queue(`UPDATE @.running AS r SET holds = v.holds::jsonb FROM unnest($1::bigint[], $2::int[], $3::text[]) AS v (job, task, holds)
			WHERE r.job = v.job AND r.task = v.task AND r.job = ANY($1)`, jobs, tasks, holds)
	}
	return nil
}

// Shared implements fairlead.Sharer.
func (s *Store) Shared() bool { return !s.options.Sole }

// Rates implements fairlead.RateKeeper.
func (s *Store) Rates(ctx context.Context) (out []sched.RateState, err error) {
	err = s.query(ctx, `SELECT `+laterNow+`, `+rateColumns+` FROM @.toll WHERE taken_at > 0 ORDER BY key`, func(rows pgx.Rows) error {
		var now int64
		r, is, err := scanRate(rows, &now)
		if is {
			r.Resume(r.Limit, life.Instant(now))
			out = append(out, r)
		}
		return err
	}, s.now())
	return out, err
}
