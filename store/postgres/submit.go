package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

type userKey struct{ user, key string }

// submission is what a transaction knows of the jobs that it adds.
type submission struct {
	t       *tx
	foreign bool   // the transaction is one of the program's own, which may take its time
	rows    []*row // as they come; nil: refused
	sure    []bool // will be added, whatever becomes of the others
	keys    map[userKey]int64
	over    map[int64]bool           // whether a job that has a key has ended
	takes   map[int64]int64          // jobs, to those that have ended whose keys they take
	states  map[int64]fairlead.State // of jobs on which some depend
	ids     []int64                  // to be given
	added   []*row
	claimed map[int64]bool // whose key is written
	waits   [][]int64      // for each of these: on which jobs it waits
	await   [2][]int64     // dependencies: on which job, which job
}

// submit adds jobs in a transaction of the store's own. Impatiently, it does not come again if
// another one has used a key and does not end.
func (s *Store) submit(ctx context.Context, jobs []*fairlead.Job, impatient bool) (out []fairlead.Submission, err error) {
	err = s.writeEarly(ctx, func(t *tx) (err error) {
		out, err = t.submit(jobs, false)
		if impatient && errors.Is(err, errKeyInUse) {
			return final{err}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// submit adds jobs and reports on each.
func (t *tx) submit(jobs []*fairlead.Job, foreign bool) ([]fairlead.Submission, error) {
	out := make([]fairlead.Submission, len(jobs))
	b := &submission{t: t, foreign: foreign, keys: map[userKey]int64{}, over: map[int64]bool{}, takes: map[int64]int64{}, states: map[int64]fairlead.State{}, claimed: map[int64]bool{}}
	if err := b.prepare(jobs, out); err != nil {
		return nil, err
	}
	for i, r := range b.rows {
		if r == nil {
			continue
		}
		sub, err := b.decide(r, i)
		if err != nil {
			return nil, err
		}
		out[i] = sub
	}
	if err := b.claim(out); err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for _, r := range b.added {
		paths[r.Pool] = true
	}
	if err := t.internAll(paths); err != nil {
		return nil, err
	}
	t.changes = slices.Grow(t.changes, len(b.added))
	for i, r := range b.added {
		if err := b.admit(r, b.waits[i]); err != nil {
			return nil, err
		}
	}
	return out, b.insert()
}

// prepare checks the jobs and reads all that they refer to in one trip.
func (b *submission) prepare(jobs []*fairlead.Job, out []fairlead.Submission) error {
	b.rows, b.sure = make([]*row, len(jobs)), make([]bool, len(jobs))
	var users, keys []string
	var after []int64
	paths := map[string]bool{}
	seen := map[userKey]bool{}
	all := make([]row, len(jobs))
	for i, in := range jobs {
		r := &all[i]
		r.Job, r.fresh = *in, true
		if out[i].Err = r.Check(); out[i].Err != nil {
			continue
		}
		b.rows[i], b.sure[i] = r, len(r.After) == 0
		paths[r.Pool] = true
		for _, d := range r.After {
			after = append(after, d.Job)
		}
		if k := (userKey{r.User, r.Key}); r.Key != "" {
			b.sure[i] = b.sure[i] && !seen[k]
			seen[k] = true
			users, keys = append(users, r.User), append(keys, r.Key)
		}
	}
	b.askKeys(users, keys)
	b.askStates(after, !b.foreign)
	b.t.askPools(paths)
	if len(keys)+len(after) == 0 {
		b.askIDs(0)
	}
	if err := b.t.do(); err != nil {
		return err
	}
	for i, r := range b.rows {
		b.sure[i] = b.sure[i] && (r.Key == "" || b.keys[userKey{r.User, r.Key}] == 0)
	}
	return nil
}

func (b *submission) askKeys(users, keys []string) {
	if len(keys) == 0 {
		return
	}
	b.t.ask(`SELECT k.username, k.key, k.job, (SELECT count(*) FROM @.job WHERE job.id = k.job) = 0 FROM unnest($1::text[], $2::text[]) AS w (username, key),
		LATERAL (SELECT * FROM @.jobkey WHERE jobkey.username = w.username AND jobkey.key = w.key OFFSET 0) AS k`, func(r pgx.Rows) error {
		var k userKey
		var id int64
		var over bool
		err := r.Scan(&k.user, &k.key, &id, &over)
		b.keys[k], b.over[id] = id, over
		return err
	}, users, keys)
}

// askStates reads the states of jobs on which others are to depend. Firmly, they are kept
// from ending until this transaction has.
func (b *submission) askStates(ids []int64, firmly bool) {
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	scan := func(r pgx.Rows) error {
		var id int64
		var state int
		err := r.Scan(&id, &state)
		b.states[id] = life.StateOf(state)
		return err
	}
	if !firmly {
		b.t.ask(`SELECT id, state FROM @.job WHERE id = ANY($1) UNION ALL SELECT id, state FROM @.ended WHERE id = ANY($1)`, scan, ids)
		return
	}
	b.t.ask(`SELECT j.id, j.state FROM unnest($1::bigint[]) AS w (id), LATERAL (SELECT id, state FROM @.job WHERE job.id = w.id FOR SHARE) AS j`, scan, ids)
	b.t.ask(`SELECT id, state FROM @.ended WHERE id = ANY($1)`, scan, ids)
}

// askIDs asks for the ids of a job and of those after it that will be added for sure, so
// that none is left over.
func (b *submission) askIDs(from int) {
	n := 0
	for i := from; i < len(b.rows); i++ {
		switch {
		case b.rows[i] == nil:
		case b.sure[i] || i == from:
			n++
		case len(b.rows[i].After) > 0 || b.keys[userKey{b.rows[i].User, b.rows[i].Key}] == 0:
			i = len(b.rows) // it may need one, depending on what comes before
		}
	}
	b.ids = nil
	b.t.ask(`SELECT nextval('@.job_id') FROM generate_series(1, $1::int)`, func(r pgx.Rows) error {
		var id int64
		err := r.Scan(&id)
		b.ids = append(b.ids, id)
		return err
	}, n)
}

func (b *submission) id(i int) (int64, error) {
	if len(b.ids) == 0 {
		b.askIDs(i)
		if err := b.t.do(); err != nil {
			return 0, err
		}
	}
	id := b.ids[0]
	b.ids = b.ids[1:]
	return id, nil
}

// taken is the job that has the key of another one, 0 if there is none or that does not count.
func (b *submission) taken(r *row) int64 {
	id := b.keys[userKey{r.User, r.Key}]
	if r.Key == "" || r.KeyUntilEnd && b.over[id] {
		return 0
	}
	return id
}

// decide says what becomes of a job. The error is for the transaction; what is wrong with the
// job is in the submission.
func (b *submission) decide(r *row, i int) (sub fairlead.Submission, err error) {
	if id := b.taken(r); id > 0 {
		return fairlead.Submission{ID: id, Existing: true}, nil
	}
	var waitsFor []int64
	for _, d := range r.After {
		wait, bad := d.Wait(b.states[d.Job])
		if bad != nil {
			return fairlead.Submission{Err: bad}, nil
		}
		if wait {
			waitsFor = append(waitsFor, d.Job)
		}
	}
	if r.ID, err = b.id(i); err != nil {
		return sub, err
	}
	if r.Key != "" {
		b.own(r)
	}
	b.states[r.ID] = fairlead.Waiting // or held, or blocked
	b.added, b.waits = append(b.added, r), append(b.waits, waitsFor)
	return fairlead.Submission{ID: r.ID}, nil
}

// own lets a job have its key.
func (b *submission) own(r *row) {
	k := userKey{r.User, r.Key}
	if old := b.keys[k]; old > 0 {
		b.takes[r.ID] = old
	}
	b.keys[k] = r.ID
}

// admit makes a job one that waits.
func (b *submission) admit(r *row, waitsFor []int64) (err error) {
	waitsFor = slices.DeleteFunc(waitsFor, func(on int64) bool { return b.states[on] == "" }) // given up for another one with its key
	life.Admit(&r.Job, r.ID, len(waitsFor), b.t.now)
	if r.pool, err = b.t.intern(r.Pool); err != nil {
		return err
	}
	for _, on := range waitsFor {
		b.await[0], b.await[1] = append(b.await[0], on), append(b.await[1], r.ID)
	}
	b.t.count(r.pool, r.Tasks, 0)
	return b.t.waited(r, "submitted")
}

// insert writes the jobs that were added.
func (b *submission) insert() error {
	if len(b.added) == 0 {
		return nil
	}
	var id, begin, submitted []int64
	var pool, most, tasks, pending []int32
	var state []int16
	var user, kind, priority []string
	var held []bool
	var specs, payloads [][]byte
	for _, r := range b.added {
		j := &r.Job
		spec, err := life.SpecText(j)
		if err != nil {
			return err
		}
		id, begin, submitted = append(id, j.ID), append(begin, life.Nanos(j.Begin)), append(submitted, life.Nanos(j.Submitted))
		pool, most, tasks, pending = append(pool, r.pool), append(most, int32(j.Most)), append(tasks, int32(j.Tasks)), append(pending, int32(j.Pending))
		state, held, specs = append(state, int16(life.StateNumber(j.State))), append(held, j.Held), append(specs, spec)
		payloads = append(payloads, payload(j))
		user, kind, priority = append(user, j.User), append(kind, j.Kind), append(priority, j.Priority)
	}
	b.t.queue(`INSERT INTO @.job (id, pool, state, username, kind, priority, spec, not_before, most, tasks, held, pending, waiting, submitted, payload)
		SELECT i, p, s, u, k, r, x, nullif(b, 0), nullif(m, 0), t, nullif(h, false), nullif(d, 0), t, a, y FROM unnest($1::bigint[], $2::int[], $3::smallint[], $4::text[], $5::text[], $6::text[],
		$7::bytea[], $8::bigint[], $9::int[], $10::int[], $11::bool[], $12::int[], $13::bigint[], $14::bytea[]) AS v (i, p, s, u, k, r, x, b, m, t, h, d, a, y)`,
		id, pool, state, user, kind, priority, specs, begin, most, tasks, held, pending, submitted, payloads)
	if len(b.await[0]) > 0 {
		b.t.queue(`INSERT INTO @.depends (on_job, job) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING`, b.await[0], b.await[1])
		if b.foreign {
			b.t.queue(`INSERT INTO @.late (on_job, job) SELECT * FROM unnest($1::bigint[], $2::bigint[])`, b.await[0], b.await[1])
			b.t.hint = true
		}
	}
	return nil
}

// payload is that of a job, nil if there is none.
func payload(j *fairlead.Job) []byte {
	if len(j.Payload) == 0 {
		return nil
	}
	return j.Payload
}

// askPools reads, with the next do, the numbers of pools that this process does not know.
func (t *tx) askPools(paths map[string]bool) {
	if unknown := t.missing(paths); len(unknown) > 0 {
		t.ask(`SELECT id, path FROM @.pool WHERE path = ANY($1)`, t.keepPool, unknown)
	}
}

func (t *tx) keepPool(r pgx.Rows) error {
	var id int32
	var path string
	err := r.Scan(&id, &path)
	if t.paths == nil {
		t.paths = map[string]int32{}
	}
	t.paths[path] = id
	return err
}

// intern returns the number of a pool, which is made if there is none.
func (t *tx) intern(path string) (int32, error) {
	if err := t.internAll(map[string]bool{path: true}); err != nil {
		return 0, err
	}
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if id, known := t.s.pools[path]; known {
		return id, nil
	}
	return t.paths[path], nil
}

// internAll makes those pools that there are not, all in one statement. They are made in the
// order of their paths: who makes a pool that another transaction is making waits for that one.
func (t *tx) internAll(paths map[string]bool) error {
	missing := t.missing(paths)
	if len(missing) == 0 {
		return nil
	}
	t.ask(`INSERT INTO @.pool (path, since) SELECT path, $2 FROM unnest($1::text[]) AS w (path) ON CONFLICT DO NOTHING RETURNING id, path`,
		t.keepPool, missing, life.Nanos(t.now))
	if err := t.do(); err != nil {
		return err
	}
	if missing = t.missing(paths); len(missing) == 0 {
		return nil
	}
	t.ask(`SELECT id, path FROM @.pool WHERE path = ANY($1)`, t.keepPool, missing) // others made them in the meantime
	return t.do()
}

// missing are the pools of which neither the store nor the transaction knows the number, in
// order.
func (t *tx) missing(paths map[string]bool) (missing []string) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	for path := range paths {
		_, known := t.s.pools[path]
		if _, here := t.paths[path]; !known && !here {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	return missing
}

// path is the path of a pool.
func (t *tx) path(id int32) (string, error) {
	t.s.mu.Lock()
	path, known := t.s.paths[id]
	t.s.mu.Unlock()
	if known {
		return path, nil
	}
	t.ask(`SELECT id, path FROM @.pool WHERE id = $1`, func(r pgx.Rows) error {
		if err := t.keepPool(r); err != nil {
			return err
		}
		return r.Scan(&id, &path)
	}, id)
	return path, t.do()
}
