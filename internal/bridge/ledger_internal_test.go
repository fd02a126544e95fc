package bridge

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// TestLedgerKeepsTheStartOfTheLatestLease checks that the ledger keeps the start of the latest lease of an entry. A row
// of an older program, which kept the start of the first one, has none.
func TestLedgerKeepsTheStartOfTheLatestLease(t *testing.T) {
	l, err := openLedger(t.Context(), t.TempDir(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	first := time.Date(2026, 1, 1, 0, 0, 0, 1234, time.UTC)
	r := &row{seq: 1, marker: "m", lease: api.Lease{Ref: queue.Ref{JobID: 7, Attempt: 1}, Since: first, User: "ann"}}
	has := func(what string, attempt int, since time.Time) {
		t.Helper()
		all, err := l.rows()
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %d rows, %v", what, len(all), err)
		}
		if is := all[0].lease; is.Attempt != attempt || !is.Since.Equal(since) || is.User != "ann" {
			t.Errorf("%s: attempt %d since %v, want %d since %v", what, is.Attempt, is.Since, attempt, since)
		}
	}
	change := func(attempt int, since time.Time) {
		t.Helper()
		r.lease.Attempt, r.lease.Since = attempt, since
		if err := l.change([]*row{r}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	change(1, first)
	has("first", 1, first)
	change(2, first.Add(time.Hour))
	has("leased again before it was sent", 2, first.Add(time.Hour))
	r.stage, r.id = sent, "17"
	change(3, first.Add(2*time.Hour))
	has("leased again after that", 3, first.Add(2*time.Hour))
	if err := l.exec("UPDATE entry SET attempt = 4"); err != nil { // as older programs did
		t.Fatal(err)
	}
	has("of an older program", 4, time.Time{})
}
