package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/batch"
	"github.com/fairlead/fairlead/queue"
)

// batched runs the functions in one batch of the writer, in their order, and returns
// their errors.
func batched(t *testing.T, s *Store, fs ...func(*tx) error) []error {
	t.Helper()
	calls := make([]*call, len(fs))
	for i, f := range fs {
		calls[i] = batch.NewCall[op, struct{}](op{run: f})
	}
	s.writer.together(calls)
	errs := make([]error, len(fs))
	for i, c := range calls {
		_, errs[i] = c.Wait(t.Context())
	}
	return errs
}

// TestOneFailureInABatch: a call may fail at any place of a batch, even with a panic. It gets its error and leaves
// nothing behind. The other calls take effect once, return no error, and are on disk.
func TestOneFailureInABatch(t *testing.T) {
	broken := errors.New("broken")
	for name, fail := range map[string]func(*tx) error{
		"error": func(*tx) error { return broken },
		"panic": func(*tx) error { panic("broken") },
		"constraint": func(x *tx) error {
			_, err := x.numbers.pool("kept", "")
			if err == nil {
				delete(x.numbers.pools, "kept") // the second insertion breaks the rule that paths are unique
				_, err = x.numbers.pool("kept", "")
			}
			return fmt.Errorf("broken: %w", err)
		},
	} {
		for place := range 3 {
			t.Run(fmt.Sprint(name, place), func(t *testing.T) { failsAlone(t, place, fail) })
		}
	}
}

func failsAlone(t *testing.T, place int, fail func(*tx) error) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openInternal(t, path)
	cursor := s.mem.feed.Cursor()
	var fs []func(*tx) error
	ids := make([]int64, 3)
	for i := range ids {
		fs = append(fs, func(x *tx) error {
			user := fmt.Sprint("user", i)
			sub, err := x.submit(&queue.Job{Kind: "k", User: user, Pool: user, Tasks: 1})
			ids[i] = sub.ID
			if i == place {
				return errors.Join(err, fail(x)) // after it has changed something
			}
			return errors.Join(err, sub.Err)
		})
	}
	errs := batched(t, s, fs...)
	changes, _, err := s.Changes(t.Context(), cursor, 0)
	if err != nil || len(changes) != 2 {
		t.Errorf("changes %+v (%v)", changes, err)
	}
	s.Close()
	again := openInternal(t, path)
	accounts, err := again.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range errs {
		jobs, e := again.Jobs(t.Context(), queue.Query{User: fmt.Sprint("user", i)})
		if e != nil {
			t.Fatal(e)
		}
		if i == place {
			if err == nil || !strings.Contains(err.Error(), "broken") || len(jobs) != 0 {
				t.Errorf("the call that fails: %v, %d jobs", err, len(jobs))
			}
			continue
		}
		if err != nil || len(jobs) != 1 || jobs[0].ID != ids[i] || accounts.Pools[jobs[0].Pool].Waiting != 1 {
			t.Errorf("call %d: %v, jobs %v, accounts %+v", i, err, jobs, accounts.Pools)
		}
	}
}

// TestCommitsAreSynced: an acknowledged change survives a power failure.
func TestCommitsAreSynced(t *testing.T) {
	s := openInternal(t, filepath.Join(t.TempDir(), "jobs.db"))
	for name, want := range map[string]int64{"synchronous": 2 /* FULL */, "application_id": appID} {
		got := int64(0)
		if err := s.write(t.Context(), false, func(x *tx) (err error) { got, err = pragma(x.conn, name); return err }); err != nil || got != want {
			t.Errorf("%s is %d, want %d (%v)", name, got, want, err)
		}
	}
}
