package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
	"github.com/fairlead/fairlead/store/sqlite"
)

// keeper is a worker that keeps the leases it is given.
type keeper struct{ leases chan *queue.Lease }

func (k *keeper) Start(all []*queue.Lease) {
	for _, l := range all {
		k.leases <- l
	}
}

func (k *keeper) Stop([]queue.Ref, string) {}

// foreign are attempts of node n1 that are none of the store's.
func foreign(ctx context.Context, t *testing.T, l *engine.Loop, says []queue.Run) []queue.Ref {
	t.Helper()
	refs, err := l.Foreign(ctx, "n1", says)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// TestAttemptsOfBeforeARestore: when a copy of the database replaces the file, the ids that were given since the copy
// are given again. Attempts from before that still run under these ids are distinguished from new attempts with the
// same numbers.
func TestAttemptsOfBeforeARestore(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "jobs.db")
	live := func(f func(ctx context.Context, l *engine.Loop)) {
		t.Helper()
		store, err := sqlite.Open(t.Context(), file, sqlite.Options{Unit: "cpu"})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		lived(t, store, f)
	}
	begin := func(ctx context.Context, l *engine.Loop, node string, jobs int, running ...queue.Ref) (began []queue.Run) {
		t.Helper()
		k := &keeper{make(chan *queue.Lease, jobs)}
		has := fairlead.Amounts{"cpu": int64(jobs + len(running)), "handler.work": 1 << 40}
		if _, err := l.Join(ctx, node, has, engine.NodeInfo{}, k, running); err != nil {
			t.Fatal(err)
		}
		for range jobs {
			enginetest.Submit(t, l, fairlead.Job{User: "ann"})
			lease := <-k.leases
			began = append(began, queue.Run{Ref: lease.Ref, Holder: node, Started: lease.Started})
		}
		return began
	}
	var before, after []queue.Run
	live(func(ctx context.Context, l *engine.Loop) { before = begin(ctx, l, "n1", 1) })
	copied, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	live(func(ctx context.Context, l *engine.Loop) {
		if got := foreign(ctx, t, l, before); len(got) > 0 {
			t.Errorf("after a restart %v are foreign", got)
		}
		after = begin(ctx, l, "n1", 2, before[0].Ref)
	})
	// The copy is put back.
	for _, name := range []string{file + "-wal", file + "-shm"} {
		os.Remove(name)
	}
	if err := os.WriteFile(file, copied, 0o600); err != nil {
		t.Fatal(err)
	}
	live(func(ctx context.Context, l *engine.Loop) {
		says := slices.Concat(before, after, []queue.Run{{Ref: queue.Ref{JobID: 99, Attempt: 1}}}) // the last has no start
		lost := []queue.Ref{after[0].Ref, after[1].Ref}
		if got := foreign(ctx, t, l, says); !slices.Equal(got, lost) {
			t.Errorf("before any id is given again %v are foreign, want %v", got, lost)
		}
		if again := begin(ctx, l, "n2", 1); again[0].Ref != after[0].Ref {
			t.Fatalf("the id is not given again: %v, before %v", again, after)
		}
		if again := begin(ctx, l, "n1", 1, before[0].Ref); again[0].Ref != after[1].Ref {
			t.Fatalf("the id is not given again: %v, before %v", again, after)
		}
		if got := foreign(ctx, t, l, after); !slices.Equal(got, lost) {
			t.Errorf("when the ids are given again %v are foreign, want %v", got, lost)
		}
		if got := foreign(ctx, t, l, []queue.Run{{Ref: lost[1], Started: after[1].Started.Add(time.Hour)}}); len(got) != 1 {
			t.Errorf("an attempt of another time is taken for one that runs: %v", got)
		}
	})
}

// TestStartsInQueueingSystems checks that a bridge's attempt is the store's if the store has an equal or earlier start:
// the start moves when the task begins in the queueing system, by any clock.
func TestStartsInQueueingSystems(t *testing.T) {
	lived(t, memory.New("cpu"), func(ctx context.Context, l *engine.Loop) {
		k := &keeper{make(chan *queue.Lease, 1)}
		has := fairlead.Amounts{"cpu": 1, "handler.work": 1 << 40}
		m, err := l.Join(ctx, "n1", has, engine.NodeInfo{Queue: true}, k, nil)
		if err != nil {
			t.Fatal(err)
		}
		enginetest.Submit(t, l, fairlead.Job{User: "ann"})
		lease := <-k.leases
		says := func(latest time.Time) []queue.Run {
			return []queue.Run{{Ref: lease.Ref, Started: latest, Queued: true}}
		}
		began := time.Now().Add(time.Hour) // by a wrong clock
		for _, at := range []time.Time{lease.Started, began} {
			if got := foreign(ctx, t, l, says(at)); len(got) > 0 {
				t.Errorf("%v is foreign while it waits", got)
			}
		}
		if err := m.Progress(ctx, []queue.Progress{{Ref: lease.Ref, Began: began}}); err != nil {
			t.Fatal(err)
		}
		if got := foreign(ctx, t, l, says(began)); len(got) > 0 {
			t.Errorf("%v is foreign when it runs", got)
		}
		if got := foreign(ctx, t, l, says(lease.Started.Add(-time.Second))); len(got) != 1 {
			t.Errorf("an attempt that started before the present one is taken for it: %v", got)
		}
	})
}
