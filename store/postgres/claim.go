package postgres

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// claimText leases all wanted jobs that have one task and may start, except jobs that others are claiming at the same
// moment.
const claimText = `WITH instant AS MATERIALIZED (SELECT ` + claimNow + ` AS at),
	c AS (
		SELECT j.id FROM unnest($1::bigint[]) AS w (id), LATERAL (
			SELECT id FROM @.job WHERE job.id = w.id AND ` + mayStart + ` FOR UPDATE SKIP LOCKED) AS j),
	u AS (
		UPDATE @.job AS j SET ` + begins + `, charge = ` + charged + `
		WHERE id = ANY(ARRAY(SELECT id FROM c))
		RETURNING ` + claimed + `),
	` + leased + `
	SELECT * FROM u`

// claimAlternateText does the same, and also takes alternates for lost jobs: the first free alternates of each lost
// job's list. So servers that want the same jobs do not compete for them, and lock only the jobs that they take. Of
// the wants with a list, $6 has the jobs, $7 whether each is the first want for its job, and $8 the number of its
// list. Of the lists, $9 and $10 say where each begins and ends in $12, and $11 has its charge. Wanted jobs with
// several tasks are returned with attempt 0, and no alternate is taken for them.
const claimAlternateText = `WITH instant AS MATERIALIZED (SELECT ` + claimNow + ` AS at),
	c AS (
		SELECT j.id FROM unnest($1::bigint[]) AS w (id), LATERAL (
			SELECT id FROM @.job WHERE job.id = w.id AND ` + mayStart + ` FOR UPDATE SKIP LOCKED) AS j),
	m AS (SELECT DISTINCT id FROM unnest($6::bigint[]) AS w (id)
		WHERE id NOT IN (SELECT id FROM c) AND (SELECT tasks FROM @.job WHERE job.id = w.id) > 1),
	n AS (SELECT list, count(*) AS n FROM unnest($6::bigint[], $7::bool[], $8::int[]) AS w (id, first, list)
		WHERE NOT (first AND id IN (SELECT id FROM c)) AND id NOT IN (SELECT id FROM m) GROUP BY list),
	e AS (SELECT x.id, ($11::float8[])[n.list] AS charge FROM n, LATERAL (
			SELECT j.id FROM unnest(($12::bigint[])[($9::int[])[n.list]:($10::int[])[n.list]]) AS a (id), LATERAL (
				SELECT id FROM @.job WHERE job.id = a.id AND ` + mayStart + ` FOR UPDATE SKIP LOCKED) AS j
			LIMIT n.n) AS x),
	w AS (SELECT id, coalesce(` + charged + `, 0) AS charge FROM c UNION ALL SELECT * FROM e),
	u AS (
		UPDATE @.job AS j SET ` + begins + `, charge = nullif(w.charge, 0)
		FROM (SELECT id, max(charge) AS charge FROM w GROUP BY id) AS w WHERE j.id = w.id AND j.id = ANY(ARRAY(SELECT id FROM w))
		RETURNING ` + claimed + `),
	` + leased + `
	SELECT * FROM u UNION ALL SELECT id, 0, '', '', '', NULL, NULL, 0, 0, 0 FROM m`

// claimNow is the instant of a claim: the given one, or that of the transaction.
const claimNow = `coalesce($3::bigint, ` + clockText + `)`

// The parts of the two statements: the condition for jobs that may start, their new states, the columns to read, and
// their leases.
const (
	mayStart = `state = 2 AND tasks = 1 AND coalesce(not_before, 0) <= (SELECT at FROM instant) AND coalesce(t_begin, 0) <= (SELECT at FROM instant)`
	begins   = `state = 3, waiting = 0, running = 1, next = 1, returned = NULL, attempt = coalesce(attempt, 0) + 1, holder = $4,
			t_state = 3, t_begin = NULL, t_started = (SELECT at FROM instant), t_ended = NULL, outcome = NULL, until = (SELECT at FROM instant) + $5, started = coalesce(nullif(started, 0), (SELECT at FROM instant))`
	// charged is the charge of a claimed job: the common charge or, without one, its own.
	charged = `CASE WHEN $2::jsonb IS NOT NULL THEN coalesce($2::jsonb ->> '', $2::jsonb ->> id::text)::float8 END`
	claimed = `j.id, j.pool, j.username, j.kind, j.priority, j.spec, j.payload, j.submitted, j.started, j.attempt`
	leased  = `l AS (INSERT INTO @.lease (until, holder, jobs) SELECT (SELECT at FROM instant) + $5, $4, array_agg(id) FROM u HAVING count(*) > 0)`
)

// claim leases the jobs that have one task, or alternates.
func (l *leasing) claim(wants []queue.Want, out []queue.Grant) error {
	charges := map[int64]float64{}
	others := false
	for _, w := range wants {
		if len(w.Nodes) > 0 {
			continue
		}
		if _, twice := charges[w.Job]; !twice {
			charges[w.Job] = w.Charge
		}
		others = others || len(w.Else) > 0
	}
	if len(charges) == 0 {
		return nil
	}
	ids := sorted(charges)
	var e alternates
	if others {
		e.add(wants, charges)
	}
	some, err := chargesText(charges)
	if err != nil {
		return err
	}
	k := taking{t: l.t, holder: l.holder, ttl: l.ttl, won: make(map[int64]*queue.Lease, len(ids)),
		pools: map[int32][]*queue.Job{}}
	args := []any{ids, some, l.t.at(), l.holder, int64(l.ttl)}
	if others {
		l.t.trip.ask(claimAlternateText, k.scan, append(args, e.jobs, e.first, e.list, e.from, e.to, e.charge, e.ids)...)
	} else {
		l.t.trip.ask(claimText, k.scan, args...)
	}
	if err := l.t.trip.do(); err != nil {
		return err
	}
	for i, w := range wants {
		if out[i].Lease = k.won[w.Job]; out[i].Lease != nil {
			delete(k.won, w.Job) // it is the answer to one want
		}
	}
	for i, w := range wants {
		if out[i].Lease == nil && len(w.Else) > 0 && len(w.Nodes) == 0 && !k.several[w.Job] {
			out[i].Lease = e.next(w, k.won)
		}
	}
	return k.count()
}

// chargesText returns the charges of jobs as JSON: by job, or under an empty name if all are the same, or nil if they
// are zero. The short form exists because a lookup takes time for each job.
func chargesText(charges map[int64]float64) (*string, error) {
	by := make(map[string]float64, len(charges))
	switch amounts := slices.Compact(slices.Sorted(maps.Values(charges))); {
	case len(amounts) > 1:
		for id, charge := range charges {
			by[strconv.FormatInt(id, 10)] = charge
		}
	case amounts[0] == 0:
		return nil, nil
	default:
		by[""] = amounts[0]
	}
	text, err := json.Marshal(by)
	out := string(text)
	return &out, err
}

// alternates are the lists of alternates of wants, as parameters of claimAlternateText.
type alternates struct {
	jobs     []int64 // for each want with a list
	first    []bool
	list     []int32
	from, to []int32 // for each list
	charge   []float64
	ids      []int64
	numbers  map[int64]int32 // of lists, by their first jobs
}

// add adds the lists of the wants, without jobs that are wanted themselves.
func (e *alternates) add(wants []queue.Want, wanted map[int64]float64) {
	e.numbers = map[int64]int32{}
	seen := make(map[int64]bool, len(wanted))
	for _, w := range wants {
		if len(w.Nodes) > 0 {
			continue
		}
		first := !seen[w.Job]
		seen[w.Job] = true
		if len(w.Else) == 0 {
			continue
		}
		number, known := e.numbers[w.Else[0]]
		if !known {
			e.from = append(e.from, int32(len(e.ids)+1))
			for _, id := range w.Else {
				if _, is := wanted[id]; !is {
					e.ids = append(e.ids, id)
				}
			}
			e.to, e.charge = append(e.to, int32(len(e.ids))), append(e.charge, w.Charge)
			number = int32(len(e.to))
			e.numbers[w.Else[0]] = number
		}
		e.jobs, e.first, e.list = append(e.jobs, w.Job), append(e.first, first), append(e.list, number)
	}
}

// next returns the next lease of the want's list; nil if no more were leased.
func (e *alternates) next(w queue.Want, won map[int64]*queue.Lease) *queue.Lease {
	k := e.numbers[w.Else[0]] - 1
	for e.from[k] <= e.to[k] {
		id := e.ids[e.from[k]-1]
		e.from[k]++
		if l := won[id]; l != nil {
			delete(won, id)
			return l
		}
	}
	return nil
}

// taking collects the jobs that a claim leased.
type taking struct {
	t       *tx
	holder  string
	ttl     time.Duration
	won     map[int64]*queue.Lease
	pools   map[int32][]*queue.Job
	several map[int64]bool // wanted jobs with several tasks
}

func (k *taking) scan(r pgx.Rows) error {
	j := &queue.Job{Tasks: 1, Running: 1, State: queue.Running}
	var pool int32
	var spec []byte
	var submitted, started int64
	l := &queue.Lease{Job: j, Holder: k.holder, Started: k.t.trip.now, Until: k.t.trip.now.Add(k.ttl)}
	if err := r.Scan(&j.ID, &pool, &j.User, &j.Kind, &j.Priority, &spec, &j.Payload, &submitted, &started,
		&l.Attempt); err != nil {
		return err
	}
	if l.Attempt == 0 {
		if k.several == nil {
			k.several = map[int64]bool{}
		}
		k.several[j.ID] = true
		return nil
	}
	if err := life.ReadSpec(spec, j); err != nil {
		return err
	}
	j.Submitted, j.Started = life.Instant(submitted), life.Instant(started)
	l.JobID, l.Number = j.ID, j.Numbers().At(0)
	k.won[j.ID] = l
	k.pools[pool] = append(k.pools[pool], j)
	return nil
}

// count counts the leased jobs as running, and fills in the names of their pools.
func (k *taking) count() error {
	for pool, jobs := range k.pools {
		path, err := k.t.pools.path(pool)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			j.Pool = path
		}
		k.t.ledger.count(pool, -len(jobs), len(jobs))
	}
	return nil
}
