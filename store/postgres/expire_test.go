package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/await"
	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestExpireOfHolderSeesRenewals: while an expiry takes the rows of a holder, one of its leases is renewed. Another
// expiry sees the renewal, and takes the old row. The attempt is lost all the same.
func TestExpireOfHolderSeesRenewals(t *testing.T) {
	url, schema := pgtest.URL(t)
	s := at(t, url, postgres.Options{Schema: schema})
	defer s.Close()
	refs := leaseFor(t, s, time.Hour, 2*time.Hour)
	lock := connect(t, url)
	begun, err := lock.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begun.Exec(t.Context(), `SELECT FROM `+schema+`.lease ORDER BY until LIMIT 1 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	lost := make(chan []queue.Ref)
	go func() {
		refs, err := s.Expire(context.Background(), "h")
		if err != nil {
			t.Error(err)
		}
		lost <- refs
	}()
	other := connect(t, url)
	await.True(t, "the expiry waits for a lock", func() (waiting bool) {
		if err := other.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%'||$1||'%lease%')`, schema).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		return waiting
	})
	if errs, err := s.Renew(t.Context(), refs[1:], 3*time.Hour); err != nil || errs[0] != nil {
		t.Fatal(errs, err)
	}
	if _, err := other.Exec(t.Context(), `DELETE FROM `+schema+`.lease WHERE until = (SELECT until FROM `+schema+`.lease ORDER BY until OFFSET 1 LIMIT 1)`); err != nil {
		t.Fatal(err)
	}
	if err := begun.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-lost; !slices.Equal(got, refs) {
		t.Errorf("lost %v of a holder that had %v", got, refs)
	}
}

// leaseFor leases a separate job for each of several durations.
func leaseFor(t *testing.T, s *postgres.Store, ttls ...time.Duration) (refs []queue.Ref) {
	t.Helper()
	for i, id := range submit(t, s, len(ttls), 1) {
		grants, err := s.Lease(t.Context(), "h", []queue.Want{{Job: id}}, ttls[i])
		if err != nil || grants[0].Lease == nil {
			t.Fatal(grants, err)
		}
		refs = append(refs, grants[0].Lease.Ref)
	}
	return refs
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}
