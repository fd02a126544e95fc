package postgres

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

type userKey struct{ user, key string }

// submission holds a transaction's data about the jobs that it adds.
type submission struct {
	t       *tx
	foreign bool   // the transaction belongs to the program, and may take long
	rows    []*row // in order; nil: refused
	sure    []bool // will be added, whatever happens to the others
	keys    map[userKey]int64
	digests map[userKey]string    // of the submissions with these keys
	over    map[int64]bool        // whether a job that has a key has ended
	takes   map[int64]int64       // jobs, to the ended jobs whose keys they take
	states  map[int64]queue.State // of the jobs' dependencies
	ids     []int64               // to be assigned
	added   []*row
	claimed map[int64]bool // whose key is written
	waits   [][]int64      // for each added job: the jobs for which it waits
	await   [2][]int64     // dependencies: the jobs waited for, and the jobs that wait
}

// prepare checks the jobs and reads everything that they refer to in one trip.
func (b *submission) prepare(jobs []*queue.Job, out []queue.Submission) error {
	b.rows, b.sure = make([]*row, len(jobs)), make([]bool, len(jobs))
	var users, keys []string
	var after []int64
	paths := map[string]string{}
	seen := map[userKey]bool{}
	all := make([]row, len(jobs))
	for i, in := range jobs {
		r := &all[i]
		r.Job, r.fresh = *in, true
		if out[i].Err = r.Check(); out[i].Err != nil {
			continue
		}
		b.rows[i], b.sure[i] = r, len(r.After) == 0
		paths[r.Pool] = cmp.Or(paths[r.Pool], r.User)
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
	b.t.pools.ask(paths)
	if len(keys)+len(after) == 0 {
		b.askIDs(0)
	}
	if err := b.t.trip.do(); err != nil {
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
	b.t.trip.ask(keysText, b.keepKey, users, keys)
}

// keysText reads the jobs that have some keys of users, and whether these have ended.
const keysText = `SELECT k.username, k.key, k.digest, k.job, (SELECT count(*) FROM @.job WHERE job.id = k.job) = 0 FROM unnest($1::text[], $2::text[]) AS w (username, key),
	LATERAL (SELECT * FROM @.jobkey WHERE jobkey.username = w.username AND jobkey.key = w.key OFFSET 0) AS k`

// keepKey stores a row of keysText.
func (b *submission) keepKey(r pgx.Rows) error {
	var k userKey
	var digest string
	var id int64
	var over bool
	err := r.Scan(&k.user, &k.key, &digest, &id, &over)
	b.keys[k], b.digests[k], b.over[id] = id, digest, over
	return err
}

// askStates queries the states of jobs on which new jobs will depend. If the flag "firmly" is set, it locks these jobs,
// so that they cannot end before this transaction.
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
		b.t.trip.ask(`SELECT id, state FROM @.job WHERE id = ANY($1) UNION ALL SELECT id, state FROM @.ended WHERE id = ANY($1)`, scan, ids)
		return
	}
	b.t.trip.ask(`SELECT j.id, j.state FROM unnest($1::bigint[]) AS w (id), LATERAL (SELECT id, state FROM @.job WHERE job.id = w.id FOR SHARE) AS j`, scan, ids)
	b.t.trip.ask(`SELECT id, state FROM @.ended WHERE id = ANY($1)`, scan, ids)
}

// askIDs requests ids for a job and for the later jobs that will surely be added, so that no id remains unused.
func (b *submission) askIDs(from int) {
	n := 0
	for i := from; i < len(b.rows); i++ {
		switch {
		case b.rows[i] == nil:
		case b.sure[i] || i == from:
			n++
		case len(b.rows[i].After) > 0 || b.keys[userKey{b.rows[i].User, b.rows[i].Key}] == 0:
			i = len(b.rows) // whether it needs an id depends on the jobs before it
		}
	}
	b.ids = nil
	b.t.trip.ask(`SELECT nextval('@.job_id') FROM generate_series(1, $1::int)`, func(r pgx.Rows) error {
		var id int64
		err := r.Scan(&id)
		b.ids = append(b.ids, id)
		return err
	}, n)
}

func (b *submission) id(i int) (int64, error) {
	if len(b.ids) == 0 {
		b.askIDs(i)
		if err := b.t.trip.do(); err != nil {
			return 0, err
		}
	}
	id := b.ids[0]
	b.ids = b.ids[1:]
	return id, nil
}

// taken returns the job that already has j's key, 0 if there is none or if that job does not count.
func (b *submission) taken(j *queue.Job) int64 {
	id := b.keys[userKey{j.User, j.Key}]
	if j.Key == "" || j.KeyUntilEnd && b.over[id] {
		return 0
	}
	return id
}

// decide decides about a job. The returned error is about the transaction, and the error in the submission is
// about the job.
func (b *submission) decide(r *row, i int) (sub queue.Submission, err error) {
	if id := b.taken(&r.Job); id > 0 {
		return b.keyed(&r.Job, id), nil
	}
	var waitsFor []int64
	for _, d := range r.After {
		wait, bad := d.Wait(b.states[d.Job])
		if bad != nil {
			return queue.Submission{Err: bad}, nil
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
	b.states[r.ID] = queue.Waiting // or held, or blocked
	b.added, b.waits = append(b.added, r), append(b.waits, waitsFor)
	return queue.Submission{ID: r.ID}, nil
}

// own gives a job its key.
func (b *submission) own(r *row) {
	k := userKey{r.User, r.Key}
	if old := b.keys[k]; old > 0 {
		b.takes[r.ID] = old
	}
	b.keys[k], b.digests[k] = r.ID, r.Digest
}

// keyed returns the answer to a job whose key belongs to another job.
func (b *submission) keyed(j *queue.Job, id int64) queue.Submission {
	return life.Keyed(j, id, b.digests[userKey{j.User, j.Key}])
}

// admit turns a row into a waiting job.
func (b *submission) admit(r *row, waitsFor []int64) (err error) {
	waitsFor = slices.DeleteFunc(waitsFor, func(on int64) bool { return b.states[on] == "" }) // gave up its key
	life.Admit(&r.Job, r.ID, len(waitsFor), b.t.trip.now)
	if r.pool, err = b.t.pools.intern(r.Pool, r.User); err != nil {
		return err
	}
	for _, on := range waitsFor {
		b.await[0], b.await[1] = append(b.await[0], on), append(b.await[1], r.ID)
	}
	b.t.ledger.count(r.pool, r.Tasks, 0)
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
		id, begin = append(id, j.ID), append(begin, life.Nanos(j.Begin))
		submitted = append(submitted, life.Nanos(j.Submitted))
		pool, most = append(pool, r.pool), append(most, int32(j.MaxRunning))
		tasks, pending = append(tasks, int32(j.Tasks)), append(pending, int32(j.Pending))
		state, held, specs = append(state, int16(life.StateNumber(j.State))), append(held, j.Held), append(specs, spec)
		payloads = append(payloads, payload(j))
		user, kind, priority = append(user, j.User), append(kind, j.Kind), append(priority, j.Priority)
	}
	b.t.trip.queue(`INSERT INTO @.job (id, pool, state, username, kind, priority, spec, not_before, most, tasks, held, pending, waiting, submitted, payload)
		SELECT i, p, s, u, k, r, x, nullif(b, 0), nullif(m, 0), t, nullif(h, false), nullif(d, 0), t, a, y FROM unnest($1::bigint[], $2::int[], $3::smallint[], $4::text[], $5::text[], $6::text[],
		$7::bytea[], $8::bigint[], $9::int[], $10::int[], $11::bool[], $12::int[], $13::bigint[], $14::bytea[]) AS v (i, p, s, u, k, r, x, b, m, t, h, d, a, y)`,
		id, pool, state, user, kind, priority, specs, begin, most, tasks, held, pending, submitted, payloads)
	if len(b.await[0]) > 0 {
		b.t.trip.queue(`INSERT INTO @.depends (on_job, job) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING`, b.await[0], b.await[1])
		if b.foreign {
			b.t.trip.queue(`INSERT INTO @.late (on_job, job) SELECT * FROM unnest($1::bigint[], $2::bigint[])`, b.await[0],
				b.await[1])
			b.t.hint = true
		}
	}
	return nil
}

// payload returns the payload of a job, nil if there is none.
func payload(j *queue.Job) []byte {
	if len(j.Payload) == 0 {
		return nil
	}
	return j.Payload
}
