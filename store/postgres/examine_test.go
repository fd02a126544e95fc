package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestExamine: the facts that doctor gets about a database are true, including a transaction that stays open.
func TestExamine(t *testing.T) {
	url, schema := pgtest.URL(t)
	s := at(t, url, postgres.Options{Schema: schema})
	defer s.Close()
	if _, err := s.Submit(t.Context(), []*queue.Job{{Kind: "k", User: "ann", Pool: "ann", Tasks: 1,
		Submitted: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(t.Context(), "BEGIN"); err != nil {
		t.Fatal(err)
	}
	h, err := s.Examine(t.Context())
	if err != nil || h.Format == 0 || h.Format != h.Known || h.Bytes == 0 || !h.Reserve || h.Sessions < 2 ||
		h.MaxSessions < h.Sessions || h.Oldest <= 0 {
		t.Errorf("%+v, %v", h, err)
	}
}
