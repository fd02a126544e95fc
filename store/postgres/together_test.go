package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestSubmitsTogether: each of many simultaneous calls gets its own answer, even if another call fails or uses the same
// key.
func TestSubmitsTogether(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	const callers = 64
	ids := make([]int64, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			job := &queue.Job{Kind: "k", User: "ann", Pool: "ann", Tasks: 1}
			switch {
			case i%16 == 7:
				job.Priority = "\x00" // PostgreSQL does not accept it
			case i%4 == 0:
				job.Key = "once"
			}
			subs, err := s.Submit(context.Background(), []*queue.Job{job})
			if refused := i%16 == 7; refused != (err != nil) {
				t.Errorf("call %d: %v", i, err)
			}
			if err == nil {
				ids[i] = subs[0].ID
			}
		})
	}
	wg.Wait()
	seen := map[int64]int{}
	for _, id := range ids {
		seen[id]++
	}
	if seen[0] != callers/16 || seen[ids[0]] != callers/4 || len(seen) != callers-callers/16-callers/4+2 {
		t.Errorf("the ids are %v", ids)
	}
	if n := len(s.jobs(t)); n != len(seen)-1 {
		t.Errorf("there are %d jobs, want %d", n, len(seen)-1)
	}
	s.exact(t)
}

// TestCloseWhileSubmitting: every call gets an answer.
func TestCloseWhileSubmitting(t *testing.T) {
	t.Parallel()
	url, schema := pgtest.URL(t)
	s := at(t, url, postgres.Options{Schema: schema, Timeout: 20 * time.Second})
	var wg sync.WaitGroup
	first := make(chan bool, 64)
	for range 32 {
		wg.Go(func() {
			for {
				_, err := s.Submit(context.Background(), []*queue.Job{{Kind: "k", User: "ann", Pool: "ann", Tasks: 1}})
				if errors.Is(err, queue.ErrClosed) {
					return
				}
				select {
				case first <- true:
				default:
				}
			}
		})
	}
	<-first
	s.Close()
	wg.Wait()
}

// TestCloseFinishesCalls: when the store is closed, a running call is not aborted, because its caller would not know
// whether it took effect.
func TestCloseFinishesCalls(t *testing.T) {
	t.Parallel()
	finished, closed, unlock := closeWhileFinishing(t)
	unlock()
	if err := <-finished; err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestCloseGivesUp: a store is closed even if a call waits for a database that does not answer.
func TestCloseGivesUp(t *testing.T) {
	t.Parallel()
	finished, closed, _ := closeWhileFinishing(t)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := <-finished; err == nil {
		t.Error("the call succeeded, though it had to wait")
	}
}

// closeWhileFinishing closes a store during a call that ends a job, which waits for a lock.
func closeWhileFinishing(t *testing.T) (finished, closed chan error, unlock func()) {
	t.Helper()
	url, schema := pgtest.URL(t)
	s := at(t, url, postgres.Options{Schema: schema, Timeout: time.Hour})
	ref := leaseFor(t, s, time.Hour)[0]
	other := connect(t, url)
	lock, err := other.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), `SELECT FROM `+schema+`.job FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	finished, closed = make(chan error, 1), make(chan error, 1)
	go func() {
		result := queue.Result{Ref: ref, Outcome: queue.Outcome{State: queue.Succeeded}}
		v, err := s.Finish(context.Background(), []queue.Result{result})
		if err == nil {
			err = v[0].Err
		}
		finished <- err
	}()
	watch := connect(t, url)
	await.True(t, "the call waits for the lock", func() (waits bool) {
		err := watch.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
			AND $1 = ANY(pg_blocking_pids(pid)))`, other.PgConn().PID()).Scan(&waits)
		return err == nil && waits
	})
	go func() { closed <- s.Close() }()
	await.True(t, "the store is closed", func() bool {
		_, err := s.Settings(t.Context())
		return errors.Is(err, queue.ErrClosed)
	})
	return finished, closed, func() {
		if err := lock.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeyUntilEndRace: many callers use the key of an ended job. One job is added, and the other callers get its id, in
// their own transactions or without.
func TestKeyUntilEndRace(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	job := queue.Job{User: "ann", Kind: "k", Key: "k", KeyUntilEnd: true}
	old, err := s.client.Submit(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.client.Cancel(t.Context(), old[0]); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	ids := make([]int64, 24)
	for i := range ids {
		wg.Go(func() {
			var got []int64
			var err error
			if i%4 == 0 {
				d := beginPgx(t, s)
				got, err = s.client.SubmitTx(context.Background(), d, job)
				err = errors.Join(err, d.commit())
			} else {
				got, err = s.client.Submit(context.Background(), job)
			}
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = got[0]
		})
	}
	wg.Wait()
	for i, id := range ids {
		if id != ids[0] || id == old[0] {
			t.Errorf("call %d has job %d, want %d, and not %d", i, id, ids[0], old[0])
		}
	}
	if n := len(s.jobs(t)); n != 2 {
		t.Errorf("there are %d jobs, want 2", n)
	}
}
