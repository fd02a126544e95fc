package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// race records which jobs the transactions committed, and which jobs ran.
type race struct {
	mu   sync.Mutex
	ran  map[int64]int
	want map[int64]bool
	over chan struct{} // closed when all have ended
}

func (r *race) done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ran) >= len(r.want)
}

// serve runs jobs until all committed jobs have run.
func (r *race) serve(t *testing.T, s *postgres.Store) {
	c := make(chan struct{}, 1)
	defer s.Notify(c)()
	f := follow(s)
	for done := false; !done; {
		select {
		case <-c:
		case <-r.over:
			done = r.done()
		}
		f.read(t)
		var ids []int64
		for id := range f.seen[queue.Waited] {
			ids = append(ids, id)
		}
		clear(f.seen[queue.Waited])
		won := raceFor(t, s, ids)
		r.mu.Lock()
		for _, id := range won {
			r.ran[id]++
		}
		r.mu.Unlock()
	}
}

// submit commits some transactions and rolls others back.
func (r *race) submit(t *testing.T, s *shop, clerk, rounds int) {
	for i := range rounds {
		d := begins[[]string{"pgx", "database/sql"}[clerk%2]](t, s)
		ids, err := s.client.SubmitTx(context.Background(), d, queue.Job{User: fmt.Sprint("user", i%3), Kind: "k"},
			queue.Job{User: "ann", Kind: "k", Key: fmt.Sprint(i)})
		if err != nil {
			t.Error(err)
			return
		}
		if i%3 == clerk%3 {
			err = d.rollback()
		} else {
			err = d.commit()
			r.mu.Lock()
			r.want[ids[0]], r.want[ids[1]] = true, true
			r.mu.Unlock()
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestSubmitTxRace: two servers run the jobs of many transactions, and some of these are rolled back. Each committed
// job runs once, no other job runs, and the counters are exact.
func TestSubmitTxRace(t *testing.T) {
	t.Parallel()
	stores, url, _ := several(t, 2)
	s := &shop{stores[0], engine.NewClient(stores[0], allocation.Default()), url}
	r := &race{ran: map[int64]int{}, want: map[int64]bool{}, over: make(chan struct{})}
	var servers, clerks sync.WaitGroup
	for _, server := range stores {
		servers.Go(func() { r.serve(t, server) })
	}
	for c := range 8 {
		clerks.Go(func() { r.submit(t, s, c, 12) })
	}
	clerks.Wait()
	close(r.over)
	servers.Wait()
	for id := range r.want {
		if r.ran[id] != 1 {
			t.Errorf("job %d ran %d times", id, r.ran[id])
		}
	}
	if len(r.ran) != len(r.want) {
		t.Errorf("%d jobs ran, %d were committed", len(r.ran), len(r.want))
	}
	s.exact(t)
	allOver(t, s.Store, int64(len(r.want)))
}
