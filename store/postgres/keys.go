package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead/fairlead/queue"
)

// How long a transaction waits for another open one that has used the same key. The store's own transactions give up
// and try again, so that nobody has to wait for them in turn, and others get connections. The store cannot repeat a
// transaction of the program.
const (
	keyWait        = 50 * time.Millisecond
	keyWaitForeign = 5 * time.Second
)

// errKeyInUse says that an open transaction used a key, so that it is unknown whether a job has the key.
var errKeyInUse = errors.New("another open transaction submits a job with the same key")

// Keyed implements queue.KeyReader.
func (s *Store) Keyed(ctx context.Context, jobs []*queue.Job) ([]queue.Submission, error) {
	out := make([]queue.Submission, len(jobs))
	b := &submission{keys: map[userKey]int64{}, digests: map[userKey]string{}, over: map[int64]bool{}}
	var users, keys []string
	for _, j := range jobs {
		if j.Key != "" {
			users, keys = append(users, j.User), append(keys, j.Key)
		}
	}
	if len(keys) == 0 {
		return out, nil
	}
	if err := s.db.query(ctx, keysText, b.keepKey, users, keys); err != nil {
		return nil, err
	}
	for i, j := range jobs {
		if id := b.taken(j); id > 0 {
			out[i] = b.keyed(j, id)
		}
	}
	return out, nil
}

// claim writes the keys of the jobs to add, before anything else is written. If another transaction wrote a key first,
// its job has the key.
func (b *submission) claim(out []queue.Submission) error {
	for {
		lost, err := b.claimOnce()
		if err != nil || len(lost) == 0 {
			return err
		}
		mine := map[int64]*row{}
		var users, keys []string
		for _, r := range lost {
			k := userKey{r.User, r.Key}
			mine[r.ID] = r
			users, keys = append(users, r.User), append(keys, r.Key)
			delete(b.keys, k)
		}
		b.askKeys(users, keys)
		if err := b.t.trip.do(); err != nil {
			return err
		}
		b.cede(mine, out)
	}
}

// claimOnce returns the jobs whose keys others have. It writes keys in order, so that two transactions do not wait for
// each other.
func (b *submission) claimOnce() (lost []*row, err error) {
	var users, keys, digests []string
	var ids, olds []int64
	open := map[int64]*row{}
	for _, r := range b.added {
		if r.Key != "" && !b.claimed[r.ID] {
			users, keys = append(users, r.User), append(keys, r.Key)
			digests, ids = append(digests, r.Digest), append(ids, r.ID)
			open[r.ID] = r
			if old := b.takes[r.ID]; old > 0 {
				olds = append(olds, old)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if !b.foreign {
		b.t.trip.queue(`SELECT set_config('lock_timeout', $1, true)`, fmt.Sprint(keyWait.Milliseconds(), "ms"))
	}
	if len(olds) > 0 {
		slices.Sort(olds)
		b.t.trip.queue(`DELETE FROM @.jobkey WHERE job = ANY($1::bigint[])`, olds)
	}
	b.t.trip.ask(`INSERT INTO @.jobkey (username, key, job, digest) SELECT u, k, j, d FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS v (u, k, j, d)
		ORDER BY u, k ON CONFLICT DO NOTHING RETURNING job`, func(r pgx.Rows) error {
		var id int64
		err := r.Scan(&id)
		delete(open, id)
		b.claimed[id] = true
		return err
	}, users, keys, ids, digests)
	if !b.foreign {
		b.t.trip.queue(`SELECT set_config('lock_timeout', '0', true)`)
	}
	if err := b.t.trip.do(); lockTimeout(err) {
		return nil, fmt.Errorf("%w: %w", errKeyInUse, err)
	} else if err != nil {
		return nil, err
	}
	for _, id := range sorted(open) {
		lost = append(lost, open[id])
	}
	return lost, nil
}

// cede gives up the jobs whose keys others have, unless a key has become free again.
func (b *submission) cede(mine map[int64]*row, out []queue.Submission) {
	gone := map[int64]queue.Submission{} // to its submission
	for _, id := range sorted(mine) {
		r := mine[id]
		if other := b.taken(&r.Job); other > 0 {
			gone[id] = b.keyed(&r.Job, other)
			delete(b.states, id)
		} else {
			b.own(r)
		}
	}
	var rest []*row
	var waits [][]int64
	for i, r := range b.added {
		if _, is := gone[r.ID]; !is {
			rest, waits = append(rest, r), append(waits, b.waits[i])
		}
	}
	b.added, b.waits = rest, waits
	for i := range out {
		if sub, is := gone[out[i].ID]; is {
			out[i] = sub
		}
	}
}

func lockTimeout(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && p.Code == "55P03"
}
