package server

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// TestFindings: old findings are shown while new checks run, and the checks run only once at a time, however many
// clients ask.
func TestFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		takes, text := time.Millisecond, "a"
		f := findings{look: func(ctx context.Context) []api.HealthCheck {
			runs.Add(1)
			now, long := text, takes
			time.Sleep(long)
			return []api.HealthCheck{good("disk", now)}
		}}
		shows := func(want string, changes uint64) {
			t.Helper()
			found := f.latest(t.Context(), time.Second, findingsWait)
			if got := found.Checks[0].Text; got != want || f.changes.Load() != changes {
				t.Errorf("%s after %d changes, want %s after %d", got, f.changes.Load(), want, changes)
			}
		}
		shows("a", 1) // the answer waits for quick checks
		shows("a", 1)
		time.Sleep(time.Second)
		text, takes = "b", 30*time.Second
		for range 20 {
			shows("a", 1)
		}
		if n := runs.Load(); n != 2 {
			t.Errorf("%d runs, want 2", n)
		}
		time.Sleep(takes)
		synctest.Wait()
		shows("b", 2)
		time.Sleep(time.Second)
		shows("b", 2)
		time.Sleep(takes) // equal findings do not count as a change
		synctest.Wait()
		shows("b", 2)
	})
}

// TestCancelledFindings: checks that were canceled say nothing about the server.
func TestCancelledFindings(t *testing.T) {
	f := findings{look: func(ctx context.Context) []api.HealthCheck {
		return []api.HealthCheck{bad("database", api.ResultFail, ctx.Err().Error(), "")}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := f.within(ctx, time.Second); found.Result != api.ResultFail || f.last.Load() != nil || f.changes.Load() != 0 {
		t.Errorf("%+v is kept as %+v", found, f.last.Load())
	}
}
