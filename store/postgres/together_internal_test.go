package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead/fairlead/internal/batch"
)

// TestTogetherIsNotRepeated: if a transaction of several calls is refused, the calls are carried out one by one. If it
// may have taken effect, they are not.
func TestTogetherIsNotRepeated(t *testing.T) {
	refused := &pgconn.PgError{Severity: "ERROR", Code: "22021"}
	crashed := unknown{&pgconn.PgError{Severity: "FATAL", Code: "XX000"}}
	for err, want := range map[error]int{refused: 3, crashed: 1, errors.New("conn closed"): 1} {
		calls := make(chan int, 10)
		do := func(_ context.Context, items []int, _ bool) ([]int, error) {
			calls <- len(items)
			if len(items) == 1 {
				return items, nil
			}
			return nil, err
		}
		a, b := batch.NewCall[[]int, []int]([]int{1}), batch.NewCall[[]int, []int]([]int{2})
		newSharing(&database{living: t.Context()}, do).together([]*batch.Call[[]int, []int]{a, b})
		if len(calls) != want {
			t.Errorf("%v: carried out %d times, want %d", err, len(calls), want)
		}
		_, errA := a.Wait(t.Context())
		_, errB := b.Wait(t.Context())
		if again := want > 1; (errA == nil) != again || (errB == nil) != again {
			t.Errorf("%v: answered with %v and %v", err, errA, errB)
		}
	}
}
