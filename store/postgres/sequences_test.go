package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestSequencesThatAreBehind: in a copy of a database whose sequences were not copied, as logical replication leaves
// it, no number is used twice.
func TestSequencesThatAreBehind(t *testing.T) {
	url, schema := pgtest.URL(t)
	open := func() *postgres.Store { return at(t, url, postgres.Options{Schema: schema}) }
	ends := func(s *postgres.Store, id int64) {
		t.Helper()
		grants, err := s.Lease(t.Context(), "h", []queue.Want{{Job: id}}, time.Hour)
		if err != nil || grants[0].Lease == nil {
			t.Fatal(grants, err)
		}
		v, err := s.Finish(t.Context(), []queue.Result{
			{Ref: grants[0].Lease.Ref, Outcome: queue.Outcome{State: queue.Failed, Cause: "no"}},
		})
		if err != nil || v[0].Err != nil {
			t.Fatal(v, err)
		}
	}
	audit := func(s *postgres.Store) {
		t.Helper()
		if err := s.Audit(t.Context(), []queue.AuditEntry{{Who: "root", What: "pause"}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	s := open()
	first := submit(t, s, 5, 1)
	ends(s, first[0])
	ends(s, first[1])
	audit(s)
	last := submit(t, s, 1, 1)[0]
	ends(s, last) // the largest id belongs to an ended job
	s.Close()
	restart(t, url, schema)

	s = open()
	defer s.Close()
	next := submit(t, s, 1, 1)
	if next[0] != last+1 {
		t.Errorf("the next job is %d, want %d", next[0], last+1)
	}
	ends(s, first[2])
	ends(s, next[0])
	audit(s)
}

// restart sets all sequences of a schema to their beginning.
func restart(t *testing.T, url, schema string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	rows, err := c.Query(t.Context(), `SELECT sequencename FROM pg_sequences WHERE schemaname = $1`, schema)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) != 8 {
		t.Fatalf("the sequences are %v, %v: those of numbered have to be all", names, err)
	}
	for _, name := range names {
		sequence := pgx.Identifier{schema, name}.Sanitize()
		if _, err := c.Exec(t.Context(), fmt.Sprintf(`ALTER SEQUENCE %s RESTART`, sequence)); err != nil {
			t.Fatal(err)
		}
	}
}
