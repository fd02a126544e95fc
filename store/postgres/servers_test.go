package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// several opens n stores at once on one schema that does not exist yet.
func several(t *testing.T, n int) (stores []*postgres.Store, url, schema string) {
	t.Helper()
	url, schema = pgtest.URL(t)
	stores = make([]*postgres.Store, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			stores[i], errs[i] = postgres.Open(context.Background(), url+"&pool_max_conns=4",
				postgres.Options{Schema: schema, Timeout: 20 * time.Second})
		})
	}
	wg.Wait()
	for i := range n {
		if errs[i] != nil {
			t.Fatalf("store %d: %v", i, errs[i])
		}
		t.Cleanup(func() { stores[i].Close() })
	}
	return stores, url, schema
}

// submit adds n jobs in p pools.
func submit(t testing.TB, s queue.Store, n, p int, f ...func(*queue.Job)) (ids []int64) {
	t.Helper()
	jobs := make([]*queue.Job, n)
	for i := range jobs {
		jobs[i] = &queue.Job{Kind: "k", User: "ann", Pool: fmt.Sprint("pool", i%p), Tasks: 1}
		for _, g := range f {
			g(jobs[i])
		}
	}
	subs, err := s.Submit(context.Background(), jobs)
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, sub := range subs {
		if sub.Err != nil {
			t.Error(sub.Err)
		}
		ids = append(ids, sub.ID)
	}
	return ids
}

// follower reads the feed of a store as a loop does.
type follower struct {
	s      *postgres.Store
	cursor int64
	seen   map[queue.What]map[int64]int
}

func follow(s *postgres.Store) *follower {
	return &follower{s: s, seen: map[queue.What]map[int64]int{queue.Waited: {}, queue.Done: {}}}
}

func (f *follower) read(t *testing.T) {
	t.Helper()
	for {
		changes, next, err := f.s.Changes(context.Background(), f.cursor, 7)
		if err != nil {
			t.Error(err)
			return
		}
		for _, c := range changes {
			if by := f.seen[c.What]; by != nil {
				by[c.Job.ID]++
			}
		}
		if f.cursor = next; len(changes) == 0 {
			return
		}
	}
}

// TestServersTogether lets four stores that start at the same time submit, lease and finish the same jobs at once. Each
// job runs once, and each follower of the feed learns of each job once. The counters are exact, before and after they
// are rolled up.
func TestServersTogether(t *testing.T) {
	const servers, rounds, batch = 4, 12, 20
	stores, _, _ := several(t, servers)
	var mu sync.Mutex
	runs := map[int64]int{}
	var followers sync.WaitGroup
	over := make(chan struct{})
	var all []*follower
	for _, s := range stores {
		f := follow(s)
		all = append(all, f)
		followers.Go(func() {
			for {
				f.read(t)
				select {
				case <-over:
					f.read(t)
					return
				default:
				}
			}
		})
	}
	for round := range rounds * servers {
		ids := submit(t, stores[round%servers], batch, 3)
		var wg sync.WaitGroup
		for _, s := range stores {
			wg.Go(func() {
				won := raceFor(t, s, ids)
				mu.Lock()
				defer mu.Unlock()
				for _, id := range won {
					runs[id]++
				}
			})
		}
		wg.Wait()
	}
	close(over)
	followers.Wait()
	const jobs = servers * rounds * batch
	once := func(what string, got map[int64]int) {
		t.Helper()
		if len(got) != jobs {
			t.Errorf("%s: %d jobs, want %d", what, len(got), jobs)
		}
		for id, n := range got {
			if n != 1 {
				t.Errorf("%s: job %d %d times", what, id, n)
			}
		}
	}
	once("finished", runs)
	for i, f := range all {
		once(fmt.Sprint("follower ", i, " heard that it waits"), f.seen[queue.Waited])
		once(fmt.Sprint("follower ", i, " heard that it is done"), f.seen[queue.Done])
	}
	allOver(t, stores[0], jobs)
}

// allOver checks the counters when nothing waits or runs any more.
func allOver(t *testing.T, s *postgres.Store, jobs int64) {
	t.Helper()
	u, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := int64(0)
	for pool, a := range u.Pools {
		if a.Waiting != 0 || a.Running != 0 {
			t.Errorf("pool %s: %+v, but nothing waits or runs", pool, a.Counters)
		}
		ended += a.Ended
	}
	if ended != jobs {
		t.Errorf("%d tasks are counted, want %d", ended, jobs)
	}
}

// raceFor leases as many of the jobs as it gets, each twice, and finishes them. It leaves the others to a faster
// caller, if there is one.
func raceFor(t *testing.T, s *postgres.Store, ids []int64) (won []int64) {
	ctx := context.Background()
	var wants []queue.Want
	for _, id := range append(ids, ids...) {
		wants = append(wants, queue.Want{Job: id})
	}
	grants, err := s.Lease(ctx, "h", wants, time.Minute)
	if err != nil {
		t.Error(err)
		return nil
	}
	var results []queue.Result
	for _, g := range grants {
		if g.Lease != nil {
			results = append(results, queue.Result{Ref: g.Lease.Ref, Outcome: queue.Outcome{State: queue.Succeeded}})
			won = append(won, g.Lease.JobID)
		}
	}
	verdicts, err := s.Finish(ctx, append(results, results...))
	if err != nil {
		t.Error(err)
		return nil
	}
	for i, v := range verdicts {
		if first := i < len(results); first != (v.Err == nil) {
			t.Errorf("finish %d of %d: %v", i, len(results), v.Err)
		}
	}
	return won
}

// TestFeedWaitsForNobody commits a change late: a job began to wait, and the number of the change is lower than those
// of changes that were already read. The other changes do not wait for it, and it is not missed.
func TestFeedWaitsForNobody(t *testing.T) {
	stores, url, schema := several(t, 1)
	f := follow(stores[0])
	again := submit(t, stores[0], 1, 1)[0]
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	late, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Exec(t.Context(), `INSERT INTO `+schema+`.feed (changes) SELECT changes FROM `+schema+`.feed`); err != nil {
		t.Fatal(err)
	}
	id := submit(t, stores[0], 1, 1)[0]
	if f.read(t); f.seen[queue.Waited][id] != 1 || f.seen[queue.Waited][again] != 1 {
		t.Errorf("before the late commit: %v", f.seen)
	}
	if err := late.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.read(t); f.seen[queue.Waited][id] != 1 || f.seen[queue.Waited][again] != 2 {
		t.Errorf("after the late commit: %v", f.seen)
	}
}

// TestOthersAreWoken: a caller that waits for changes of one store is woken by changes of another.
func TestOthersAreWoken(t *testing.T) {
	stores, _, _ := several(t, 2)
	c := make(chan struct{}, 1)
	defer stores[1].Notify(c)()
	id := submit(t, stores[0], 1, 1)[0]
	f := follow(stores[1])
	for deadline := time.After(await.Patience); f.seen[queue.Waited][id] == 0; f.read(t) {
		select {
		case <-c:
		case <-deadline:
			t.Fatal("not woken")
		}
	}
}

// TestRefusesSchemas: a schema of another program, or of a newer version, is left unchanged.
func TestRefusesSchemas(t *testing.T) {
	stores, url, schema := several(t, 1)
	submit(t, stores[0], 1, 1)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `UPDATE `+schema+`.format SET version = 99; CREATE SCHEMA foreign`+schema+`; CREATE TABLE foreign`+schema+`.recipes ()`); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		schema:             "has format 99, but this program knows formats up to 7",
		"foreign" + schema: "holds the tables of another program",
	} {
		_, err := postgres.Open(t.Context(), url, postgres.Options{Schema: name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("schema %s: %v, want %q", name, err, want)
		}
	}
	_, err = postgres.Open(t.Context(), "postgres://nobody:secret@127.0.0.1:1/x", postgres.Options{Timeout: time.Second})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("no database: %v", err)
	}
}

// TestForget removes jobs that ended long ago, and nothing else. Their keys are free again; ids are not reused.
func TestForget(t *testing.T) {
	stores, _, _ := several(t, 1)
	s := stores[0]
	ids := submit(t, s, 3, 1)
	keyed := submit(t, s, 1, 1, func(j *queue.Job) { j.Key = "k" })[0]
	for _, id := range []int64{ids[0], ids[2], keyed} {
		if errs, err := s.Alter(t.Context(), []queue.Alteration{{Job: id, Verb: queue.VerbCancel}}); err != nil ||
			errs[0] != nil {
			t.Fatal(err, errs)
		}
	}
	if n, err := s.Forget(t.Context(), time.Now().Add(-time.Hour)); err != nil || n != 0 {
		t.Errorf("forgot %d young jobs (%v)", n, err)
	}
	if n, err := s.Forget(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 3 {
		t.Errorf("forgot %d jobs, want 3 (%v)", n, err)
	}
	jobs, err := s.Jobs(t.Context(), queue.Query{})
	if err != nil || len(jobs) != 1 || jobs[0].ID != ids[1] {
		t.Errorf("left: %v (%v)", jobs, err)
	}
	if events, err := s.Events(t.Context(), keyed); err != nil || len(events) != 0 {
		t.Errorf("events of a forgotten job: %v (%v)", events, err)
	}
	if again := submit(t, s, 1, 1, func(j *queue.Job) { j.Key = "k" })[0]; again <= keyed {
		t.Errorf("id %d was given again", again)
	}
}
