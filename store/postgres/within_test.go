package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/postgres"
)

// letter holds the arguments of the jobs in these tests.
type letter struct{ To string }

func (letter) Kind() string { return "letter" }

// shop is a program with its own tables next to the jobs.
type shop struct {
	*postgres.Store
	client *engine.Client
	url    string
}

func openShop(t *testing.T) *shop {
	t.Helper()
	url, schema := pgtest.URL(t)
	s := at(t, url, postgres.Options{Schema: schema, Timeout: 20 * time.Second})
	t.Cleanup(func() { s.Close() })
	return &shop{s, engine.NewClient(s, allocation.Default()), url}
}

// deal is a transaction of the program, made by any library.
type deal struct {
	queue.Tx
	exec             func(sql string) error
	commit, rollback func() error
	crash            func()
}

// begins has a function for each library with which a program may make its transactions.
var begins = map[string]func(testing.TB, *shop) *deal{"pgx": beginPgx, "database/sql": beginSQL}

func beginPgx(t testing.TB, s *shop) *deal {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &deal{
		Tx:       postgres.Tx(tx),
		exec:     func(sql string) error { _, err := tx.Exec(ctx, sql); return err },
		commit:   func() error { return tx.Commit(ctx) },
		rollback: func() error { return tx.Rollback(ctx) },
		crash:    func() { conn.PgConn().Conn().Close() },
	}
}

func beginSQL(t testing.TB, s *shop) *deal {
	t.Helper()
	db, err := sql.Open("pgx", s.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &deal{
		Tx:     postgres.SQLTx(tx),
		exec:   func(sql string) error { _, err := tx.Exec(sql); return err },
		commit: tx.Commit, rollback: tx.Rollback,
		crash: cancel,
	}
}

// jobs returns the ids of the jobs that others see.
func (s *shop) jobs(t *testing.T) (ids []int64) {
	t.Helper()
	jobs, err := s.Jobs(t.Context(), queue.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

// exact compares the counters of all pools with the stored jobs.
func (s *shop) exact(t *testing.T) {
	t.Helper()
	counted, err := s.Recount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for pool, a := range u.Pools {
		if a.Counters != counted[pool] {
			t.Errorf("pool %s: the counters say %+v, the jobs %+v", pool, a.Counters, counted[pool])
		}
	}
}

func (s *shop) submit(t *testing.T, tx queue.Tx, jobs ...queue.Job) []int64 {
	t.Helper()
	ids, err := s.client.SubmitTx(t.Context(), tx, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestSubmitTx: a job exists if and only if the transaction commits, and nobody learns of it before.
func TestSubmitTx(t *testing.T) {
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			f := follow(s.Store)
			d := begin(t, s)
			if err := d.exec(`CREATE TEMP TABLE orders (id int); INSERT INTO orders VALUES (1)`); err != nil {
				t.Fatal(err)
			}
			quote := `it's "1\2", {so}`
			ids := s.submit(t, d, queue.Job{User: "ann", Name: quote, Args: letter{"bob"}, Priority: "high", Retries: 3,
				Key: quote},
				queue.Job{User: "ben", Kind: "k", Array: "0-4", After: []queue.Dependency{{Job: -1}}})
			if f.read(t); len(s.jobs(t)) != 0 || len(f.seen[queue.Waited]) != 0 {
				t.Errorf("before the commit others see %v, and hear of %v", s.jobs(t), f.seen)
			}
			s.exact(t)
			if err := d.commit(); err != nil {
				t.Fatal(err)
			}
			jobs, err := s.Jobs(t.Context(), queue.Query{IDs: ids})
			if err != nil || len(jobs) != 2 {
				t.Fatal(jobs, err)
			}
			j := jobs[0]
			if j.Name != quote || j.Pool != "ann" || j.Kind != "letter" || string(j.Payload) != `{"To":"bob"}` ||
				j.Priority != "high" || j.Retries != 3 {
				t.Errorf("it has become %+v", j)
			}
			if jobs[1].State != queue.Blocked || jobs[1].Waiting != 5 {
				t.Errorf("the second is %s with %d tasks that wait", jobs[1].State, jobs[1].Waiting)
			}
			if f.read(t); f.seen[queue.Waited][ids[0]] != 1 || len(f.seen[queue.Waited]) != 1 {
				t.Errorf("after the commit others hear of %v", f.seen)
			}
			s.exact(t)
		})
	}
}

// TestSubmitTxKeepsOptions: a job is the same whether it is submitted within a transaction or not.
func TestSubmitTxKeepsOptions(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	on := submit(t, s, 1, 1)[0]
	job := queue.Job{
		User: "ann", Name: "a letter", Pool: "post/abroad", Args: letter{"bob"}, Priority: "high", Begin: time.Unix(4000000000, 0), Retries: 3,
		Backoff: time.Minute, Limit: time.Hour, Request: queue.Amounts{"cpu": 2},
		After: []queue.Dependency{{Job: on, On: queue.OnAny}}, Array: "1-5%2", Key: "k", KeyUntilEnd: true, Held: true,
	}
	if _, err := s.client.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for _, begin := range begins {
		job.Key += "k"
		d := begin(t, s)
		s.submit(t, d, job)
		if err := d.commit(); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := s.Jobs(t.Context(), queue.Query{After: on})
	if err != nil || len(jobs) != 3 {
		t.Fatal(len(jobs), err)
	}
	want := *jobs[0]
	if want.Priority != "high" || want.Retries != 3 || want.Limit != time.Hour || want.Pool != "post/abroad" ||
		want.Pending != 1 {
		t.Errorf("it has become %+v", want)
	}
	for _, j := range jobs[1:] {
		j.ID, j.Key, j.Submitted = want.ID, want.Key, want.Submitted
		if !reflect.DeepEqual(*j, want) {
			t.Errorf("submitted in a transaction it is\n%+v, else\n%+v", *j, want)
		}
	}
	s.exact(t)
}

// TestSubmitTxUndone: a submission that is rolled back, as a whole, up to a savepoint or because
// the connection broke, leaves no trace.
func TestSubmitTxUndone(t *testing.T) {
	for name, begin := range begins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			f := follow(s.Store)
			job := queue.Job{User: "ann", Args: letter{"bob"}, Key: "k"}
			d := begin(t, s)
			s.submit(t, d, job)
			if err := d.rollback(); err != nil {
				t.Fatal(err)
			}
			d = begin(t, s)
			first := s.submit(t, d, job)
			d.crash()
			d = begin(t, s)
			second := s.submit(t, d, job) // waits for the end of the first
			if second[0] == first[0] {
				t.Error("an id was given twice")
			}
			if err := d.exec(`SAVEPOINT a`); err != nil {
				t.Fatal(err)
			}
			s.submit(t, d, queue.Job{User: "eve", Args: letter{"eve"}, Key: "k"})
			if err := d.exec(`ROLLBACK TO a`); err != nil {
				t.Fatal(err)
			}
			if err := d.commit(); err != nil {
				t.Fatal(err)
			}
			if ids := s.jobs(t); len(ids) != 1 || ids[0] != second[0] {
				t.Errorf("there are %v, want %v", ids, second)
			}
			if f.read(t); len(f.seen[queue.Waited]) != 1 {
				t.Errorf("others hear of %v", f.seen)
			}
			s.exact(t)
			if ids, err := s.client.Submit(t.Context(), job); err != nil || ids[0] != second[0] {
				t.Errorf("the key is that of %v, want %v (%v)", ids, second, err)
			}
		})
	}
}

// TestSubmitTxBlocksNobody: jobs were submitted to a new pool in a transaction that stays open. Meanwhile others submit
// to that pool, end the job that these jobs depend on, and forget old jobs.
func TestSubmitTxBlocksNobody(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	on := submit(t, s, 3, 1)
	grants, err := s.Lease(t.Context(), "h", []queue.Want{{Job: on[0]}, {Job: on[1]}, {Job: on[2]}}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	d := beginPgx(t, s)
	ids := s.submit(t, d, queue.Job{User: "new", Kind: "k", After: []queue.Dependency{{Job: on[0]}}},
		queue.Job{User: "new", Kind: "k", After: []queue.Dependency{{Job: on[1]}}},
		queue.Job{User: "new", Kind: "k", After: []queue.Dependency{{Job: on[2]}}})
	if _, err := s.client.Submit(t.Context(), queue.Job{User: "new", Kind: "k"}); err != nil {
		t.Fatal(err)
	}
	ends := []queue.Result{{Ref: grants[0].Lease.Ref, Outcome: queue.Outcome{State: queue.Succeeded}},
		{Ref: grants[1].Lease.Ref, Outcome: queue.Outcome{State: queue.Failed}}}
	if v, err := s.Finish(t.Context(), ends); err != nil || v[0].Err != nil || v[1].Err != nil {
		t.Fatal(v, err)
	}
	if err := s.SetHalfLife(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	c := make(chan struct{}, 1)
	defer s.Notify(c)()
	if err := d.commit(); err != nil {
		t.Fatal(err)
	}
	// One has succeeded before the commit, one has failed, and one still runs.
	want := []queue.State{queue.Waiting, queue.Cancelled, queue.Blocked}
	for deadline := time.After(await.Patience); ; {
		jobs, err := s.Jobs(t.Context(), queue.Query{IDs: ids})
		if err != nil {
			t.Fatal(err)
		}
		if jobs[0].State == want[0] && jobs[1].State == want[1] && jobs[2].State == want[2] {
			break
		}
		select {
		case <-c:
			if _, _, err := s.Changes(t.Context(), 0, 0); err != nil {
				t.Fatal(err)
			}
		case <-deadline:
			t.Fatalf("they are %s, %s and %s, want %v", jobs[0].State, jobs[1].State, jobs[2].State, want)
		}
	}
	last := []queue.Result{{Ref: grants[2].Lease.Ref, Outcome: queue.Outcome{State: queue.Succeeded}}}
	if v, err := s.Finish(t.Context(), last); err != nil || v[0].Err != nil {
		t.Fatal(v, err)
	}
	if j, err := s.client.Job(t.Context(), ids[2]); err != nil || j.State != queue.Waiting {
		t.Errorf("the last is %v (%v)", j, err)
	}
	s.exact(t)
}

// TestSubmitTxKeys: a caller that uses the key of an open transaction waits for its end, and then gets its job, or a
// new one.
func TestSubmitTxKeys(t *testing.T) {
	for _, commit := range []bool{true, false} {
		t.Run(fmt.Sprint("commit=", commit), func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			job := queue.Job{User: "ann", Args: letter{"bob"}, Key: "k"}
			first, second := beginPgx(t, s), beginPgx(t, s)
			id := s.submit(t, first, job)[0]
			type answer struct {
				ids []int64
				err error
			}
			within, beside := make(chan answer, 1), make(chan answer, 1)
			go func() {
				ids, err := s.client.SubmitTx(context.Background(), second, job,
					queue.Job{User: "ann", Args: letter{"eve"}, Key: "l"})
				err = errors.Join(err, second.commit())
				within <- answer{ids, err}
			}()
			go func() {
				ids, err := s.client.Submit(context.Background(), job)
				beside <- answer{ids, err}
			}()
			// Submissions without the key do not wait.
			var others sync.WaitGroup
			for i := range 20 {
				others.Go(func() {
					if _, err := s.client.Submit(context.Background(),
						queue.Job{User: "ben", Kind: "k", Key: fmt.Sprint(i)}); err != nil {
						t.Error(err)
					}
				})
			}
			others.Wait()
			if ids, err := s.client.SubmitTx(t.Context(), first, job); err != nil || ids[0] != id {
				t.Errorf("the same key in the same transaction: %v (%v), want %d", ids, err, id)
			}
			if commit {
				first.commit()
			} else {
				first.rollback()
			}
			a, b := <-within, <-beside
			if a.err != nil || b.err != nil {
				t.Fatal(a.err, b.err)
			}
			if a.ids[0] != b.ids[0] || (a.ids[0] == id) != commit {
				t.Errorf("the first had job %d, the others %v and %v", id, a.ids, b.ids)
			}
			s.exact(t)
		})
	}
}

// TestSubmitTxCrossedKeys: if two transactions wait for each other, one of them gets an error that says so.
func TestSubmitTxCrossedKeys(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	job := func(key string) queue.Job { return queue.Job{User: "ann", Args: letter{key}, Key: key} }
	a, b := beginPgx(t, s), beginPgx(t, s)
	s.submit(t, a, job("a"))
	s.submit(t, b, job("b"))
	errs := make([]error, 2)
	var both sync.WaitGroup
	for i, d := range []*deal{a, b} {
		both.Go(func() {
			if _, errs[i] = s.client.SubmitTx(context.Background(), d, job([]string{"b", "a"}[i])); errs[i] != nil {
				d.rollback()
			} else {
				errs[i] = d.commit()
			}
		})
	}
	both.Wait()
	if err := errors.Join(errs...); err == nil || (errs[0] == nil) == (errs[1] == nil) ||
		!strings.Contains(err.Error(), "same keys in different orders") {
		t.Errorf("one of them has to give way: %v, %v", errs[0], errs[1])
	}
	if ids := s.jobs(t); len(ids) != 2 {
		t.Errorf("there are %d jobs, want 2", len(ids))
	}
	s.exact(t)
}

// TestSubmitTxRefusals: a refusal names the error, and a refused job does not break the transaction.
func TestSubmitTxRefusals(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	d := beginPgx(t, s)
	ids, err := s.client.SubmitTx(t.Context(), d, queue.Job{User: "ann", Kind: "k", Retries: -1},
		queue.Job{User: "ann", Kind: "k"},
		queue.Job{User: "ann", Kind: "k", After: []queue.Dependency{{Job: 4711}}})
	if !errors.Is(err, queue.ErrInvalid) || !errors.Is(err, queue.ErrNotFound) || ids[0] != 0 || ids[1] == 0 ||
		ids[2] != 0 {
		t.Errorf("%v: %v", ids, err)
	}
	if err := d.commit(); err != nil || len(s.jobs(t)) != 1 {
		t.Errorf("%d jobs (%v)", len(s.jobs(t)), err)
	}

	_, err = engine.NewClient(memory.New("cpu"), allocation.Default()).SubmitTx(t.Context(), d,
		queue.Job{User: "ann", Kind: "k"})
	if err == nil || !strings.Contains(err.Error(), "*memory.Store") {
		t.Errorf("a store in memory: %v", err)
	}

	_, err = s.client.SubmitTx(t.Context(), beginPgx(t, &shop{url: away(t, s)}), queue.Job{User: "ann", Kind: "k"})
	if err == nil || !strings.Contains(err.Error(), "in a different database than the store") {
		t.Errorf("another database: %v", err)
	}
}

// away makes another database, and returns its URL.
func away(t *testing.T, s *shop) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	name := fmt.Sprint("away", time.Now().UnixNano())
	if _, err := conn.Exec(t.Context(), `CREATE DATABASE `+name); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(s.url, "/postgres?", "/"+name+"?", 1)
}

// TestSubmitTxOfAnother: the user of the transaction only needs the rights to read and to insert, and gets the settings
// of the session back.
func TestSubmitTxOfAnother(t *testing.T) {
	t.Parallel()
	url, schema := pgtest.URL(t)
	s := &shop{at(t, url, postgres.Options{Schema: schema}), nil, url}
	defer s.Close()
	s.client = engine.NewClient(s.Store, allocation.Default())
	d := beginPgx(t, s)
	for _, sql := range []string{`CREATE ROLE clerk`, `SET LOCAL ROLE clerk`} {
		if err := d.exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.client.SubmitTx(t.Context(), d, queue.Job{User: "ann", Kind: "k", Key: "k"})
	if err == nil || !strings.Contains(err.Error(), "has to be granted") {
		t.Errorf("without rights: %v", err)
	}
	d.rollback()
	d = beginPgx(t, s)
	for _, sql := range []string{
		`CREATE ROLE clerk`, `GRANT USAGE ON SCHEMA ` + schema +
			` TO clerk`, `GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA ` + schema + ` TO clerk`,
		`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ` + schema + ` TO clerk`, `GRANT DELETE ON ` + schema +
			`.jobkey TO clerk`, `SET LOCAL ROLE clerk`, `SET LOCAL lock_timeout = '77s'`,
	} {
		if err := d.exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	s.submit(t, d, queue.Job{User: "ann", Kind: "k", Key: "k"})
	if err := d.exec(`DO $$ BEGIN IF current_setting('lock_timeout') <> '77s' OR current_setting('enable_seqscan') <> 'on' THEN
		RAISE 'settings: % %', current_setting('lock_timeout'), current_setting('enable_seqscan'); END IF; END $$`); err != nil {
		t.Error(err)
	}
	if err := d.exec(`RESET ROLE; DROP OWNED BY clerk; DROP ROLE clerk`); err != nil {
		t.Fatal(err)
	}
	if err := d.commit(); err != nil || len(s.jobs(t)) != 1 {
		t.Errorf("%d jobs (%v)", len(s.jobs(t)), err)
	}
}

// TestSubmitTxWakes: a running loop learns of the job after the commit, and not before.
func TestSubmitTxWakes(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	app, err := fairlead.New(ctx, s.Store, fairlead.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	fairlead.Handle(app, func(ctx context.Context, w *fairlead.Work[letter]) error {
		done <- w.Args.To
		return nil
	})
	ended := make(chan error)
	go func() { ended <- app.Run(ctx) }()
	d := beginPgx(t, s)
	if _, err := app.SubmitTx(ctx, d, queue.Job{User: "ann", Args: letter{"inside"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Submit(ctx, queue.Job{User: "ann", Args: letter{"beside"}}); err != nil {
		t.Fatal(err)
	}
	if to := <-done; to != "beside" {
		t.Errorf("before the commit %q ran", to)
	}
	if err := d.commit(); err != nil {
		t.Fatal(err)
	}
	if to := <-done; to != "inside" {
		t.Errorf("after the commit %q ran", to)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
