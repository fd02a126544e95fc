package bridge_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/sqlite"
)

// TestEndsOfBeforeARestore restores an older copy of the database while a bridge has a job that began after the copy.
// The next job gets the same number. The end of the old job does not count as the end of the next one, and the old job
// leaves the QS. A job from before the copy goes on.
func TestEndsOfBeforeARestore(t *testing.T) {
	for name, away := range map[string]bool{"the bridge stays": false, "the bridge is started again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "jobs.db")
			open := func() queue.Store {
				store, err := sqlite.Open(t.Context(), file, sqlite.Options{Unit: "cpu"})
				if err != nil {
					t.Fatal(err)
				}
				return store
			}
			r := newRigOn(t, open(), time.Minute)
			slots := func(o *bridge.Options) { o.Slots = 3 }
			r.qs.Slots = 3
			for _, job := range []string{"kept", "old", "new"} {
				r.gate(job)
			}
			r.start(slots)
			kept := r.submit("kept", api.Spec{})
			r.begins(kept)
			var copied []byte
			r.restart(open, func() {
				var err error
				if copied, err = os.ReadFile(file); err != nil {
					t.Fatal(err)
				}
			})
			old := r.submit("old", api.Spec{})
			r.begins(old)
			if away {
				r.stop()
			}
			r.restart(open, func() {
				for _, name := range []string{file + "-wal", file + "-shm"} {
					os.Remove(name)
				}
				if err := os.WriteFile(file, copied, 0o600); err != nil {
					t.Fatal(err)
				}
			})
			again := r.submit("new", api.Spec{})
			if again != old {
				t.Fatalf("the new job is %d, want the number %d again", again, old)
			}
			if away {
				r.start(slots)
			}
			r.begins(again)
			if n := len(r.qs.Started()); n != 3 {
				t.Errorf("the queueing system started %d entries, want 3", n)
			}
			r.open("old")
			r.open("kept")
			if j := r.ends(kept, "succeeded"); j.Tasks[0].Attempt != 1 {
				t.Errorf("the job of before the copy ran again: %+v", j.Tasks[0])
			}
			if j, err := r.Jobs.Get(t.Context(), again); err != nil || j.Job.State != "running" {
				t.Errorf("the new job is %+v, %v", j, err)
			}
			r.open("new")
			r.ends(again, "succeeded")
		})
	}
}
