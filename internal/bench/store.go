package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	sqlitelib "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/sqlite"
)

func job(i int) *queue.Job {
	return &queue.Job{
		Name: "bench", User: "ann", Pool: fmt.Sprint("pool", i%10), Priority: "normal", Argv: []string{"true"},
	}
}

// Submissions measures durable submissions: each client submits one call after the other, with batch jobs
// each, and continues when these are on disk.
func Submissions(ctx context.Context, dir string, clients, batch, n int) (Result, error) {
	s, err := sqlite.Open(ctx, filepath.Join(dir, fmt.Sprintf("submit-%d-%d.db", clients, batch)), sqlite.Options{})
	if err != nil {
		return Result{}, err
	}
	defer s.Close()
	var wg sync.WaitGroup
	errs := make([]error, clients)
	w := start()
	for c := range clients {
		wg.Go(func() {
			for i := c * batch; i < n && errs[c] == nil; i += clients * batch {
				jobs := make([]*queue.Job, batch)
				for k := range jobs {
					jobs[k] = job(i + k)
				}
				_, errs[c] = s.Submit(ctx, jobs)
			}
		})
	}
	wg.Wait()
	r := Result{Name: "durable submissions", Detail: fmt.Sprintf("SQLite, %d clients, %d jobs a call", clients, batch)}
	if clients == 16 {
		r.Goal = ">= 20,000/s"
	}
	r.PerSecond, r.CPU = w.stop(n)
	return r, errors.Join(errs...)
}

// Cycles measures submit, lease and finish through the store, and a bare loop on the same engine. The two
// take turns, so that both see the same state of the machine.
func Cycles(ctx context.Context, dir string, batch, n int) ([]Result, error) {
	s, err := sqlite.Open(ctx, filepath.Join(dir, fmt.Sprintf("cycle-%d.db", batch)), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	bare, err := newBareLoop(filepath.Join(dir, fmt.Sprintf("bare-%d.db", batch)))
	if err != nil {
		return nil, err
	}
	defer bare.conn.Close()
	const turns = 6
	var ours, theirs [2]time.Duration // wall time, processor time
	for range turns {
		for _, side := range []struct {
			run func() error
			sum *[2]time.Duration
		}{
			{func() error { return cycles(ctx, s, batch, n/turns) }, &ours},
			{func() error { return bare.run(batch, n/turns) }, &theirs},
		} {
			w := start()
			if err := side.run(); err != nil {
				return nil, err
			}
			side.sum[0] += time.Since(w.began)
			side.sum[1] += cpuTime() - w.cpu
		}
	}
	n = n / turns * turns
	figure := func(name string, sum [2]time.Duration) Result {
		return Result{
			Name: name, Detail: fmt.Sprintf("SQLite, batches of %d", batch), PerSecond: float64(n) / sum[0].Seconds(),
			CPU: sum[1].Seconds() / float64(n),
		}
	}
	a, b := figure("submit, lease, finish", ours), figure("bare loop", theirs)
	a.Ratio, a.Beside, a.Goal = a.PerSecond/b.PerSecond, b.Name, ">= 0.7 of the bare loop"
	return []Result{a, b}, nil
}

func cycles(ctx context.Context, s queue.Store, batch, n int) error {
	for done := 0; done < n; done += batch {
		jobs := make([]*queue.Job, batch)
		for i := range jobs {
			jobs[i] = job(done + i)
		}
		subs, err := s.Submit(ctx, jobs)
		if err != nil {
			return err
		}
		wants := make([]queue.Want, batch)
		for i, sub := range subs {
			wants[i].Job = sub.ID
		}
		grants, err := s.Lease(ctx, "bench", wants, time.Minute)
		if err != nil {
			return err
		}
		results := make([]queue.Result, batch)
		for i, g := range grants {
			results[i] = queue.Result{Ref: g.Lease.Ref, Outcome: queue.Outcome{State: queue.Succeeded}}
		}
		if _, err := s.Finish(ctx, results); err != nil {
			return err
		}
	}
	return nil
}

// bareLoop is the least that a queue on the same engine can do: one table, one statement for each change, the
// same sync at every commit.
type bareLoop struct {
	conn                                 *sqlitelib.Conn
	insert, lease, finish, begin, commit *sqlitelib.Stmt
	next                                 int64
}

func newBareLoop(path string) (*bareLoop, error) {
	conn, err := sqlitelib.OpenConn(path, sqlitelib.OpenReadWrite, sqlitelib.OpenCreate, sqlitelib.OpenWAL)
	if err != nil {
		return nil, err
	}
	for _, q := range []string{
		"PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 4000",
		`CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, pool INTEGER, priority TEXT, state INTEGER, user TEXT,
			kind TEXT, spec BLOB, attempt INTEGER DEFAULT 0, holder TEXT, started INTEGER, ended INTEGER)`,
	} {
		if err := sqlitex.ExecuteTransient(conn, q, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return &bareLoop{
		conn:   conn,
		insert: conn.Prep(`INSERT INTO job (pool, priority, state, user, kind, spec) VALUES (?, ?, 1, ?, ?, ?)`),
		lease: conn.Prep(`UPDATE job SET state = 2, attempt = attempt + 1, holder = ?, started = ?
			WHERE id = ? AND state = 1 RETURNING attempt, spec`),
		finish: conn.Prep(`UPDATE job SET state = 3, ended = ? WHERE id = ? AND attempt = ? AND state = 2`),
		begin:  conn.Prep(`BEGIN IMMEDIATE`), commit: conn.Prep(`COMMIT`),
	}, nil
}

func (b *bareLoop) run(batch, n int) error {
	spec := []byte(`{"name":"bench","argv":["true"]}`)
	buffer := make([]byte, 256)
	for done := 0; done < n; done += batch {
		first := b.next + 1
		b.next += int64(batch)
		err := errors.Join(
			b.transact(batch, func(i int) error {
				b.insert.BindInt64(1, int64(i%10))
				b.insert.BindText(2, "normal")
				b.insert.BindText(3, "ann")
				b.insert.BindText(4, "")
				b.insert.BindBytes(5, spec)
				return exec(b.insert)
			}),
			b.transact(batch, func(i int) error {
				b.lease.BindText(1, "bench")
				b.lease.BindInt64(2, time.Now().UnixNano())
				b.lease.BindInt64(3, first+int64(i))
				if found, err := b.lease.Step(); err != nil || !found {
					return fmt.Errorf("bare lease: %v, %w", found, err)
				}
				b.lease.ColumnBytes(1, buffer)
				return exec(b.lease)
			}),
			b.transact(batch, func(i int) error {
				b.finish.BindInt64(1, time.Now().UnixNano())
				b.finish.BindInt64(2, first+int64(i))
				b.finish.BindInt64(3, 1)
				return exec(b.finish)
			}),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bareLoop) transact(batch int, f func(i int) error) error {
	if err := exec(b.begin); err != nil {
		return err
	}
	for i := range batch {
		if err := f(i); err != nil {
			return err
		}
	}
	return exec(b.commit)
}

func exec(stmt *sqlitelib.Stmt) error {
	_, err := stmt.Step()
	return errors.Join(err, stmt.Reset())
}
