package api_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// TestErrorsSayOnce: the text of an error has no marks for programs, and programs get the same error back.
func TestErrorsSayOnce(t *testing.T) {
	for _, x := range []struct {
		is   error
		from string
		want string
	}{
		{queue.ErrState, "job 7 has ended: %w", "job 7 has ended"},
		{queue.ErrState, "%w", "fairlead: not possible in this state"},
		{queue.ErrNotFound, "job 7: %w", "job 7: not found"},
		{queue.ErrInvalid, "nothing was changed: %w", "nothing was changed"},
		{queue.ErrForbidden, "ask an administrator: %w", "ask an administrator"},
		{queue.ErrState, "store: job 7 runs: %w", "store: job 7 runs"},
	} {
		told := api.FromError(fmt.Errorf(x.from, x.is))
		if told.Detail != x.want {
			t.Errorf("%q, want %q", told.Detail, x.want)
		}
		if back := told.Err(); !errors.Is(back, x.is) {
			t.Errorf("%q comes back as %v", x.want, back)
		}
	}
}
