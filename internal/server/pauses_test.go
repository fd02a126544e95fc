package server

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/memory"
)

// overheard is a store that records the calls.
type overheard struct {
	*memory.Store
	mu    sync.Mutex
	asked []string
}

func (s *overheard) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
}

func (s *overheard) Changes(ctx context.Context, after int64, most int) ([]queue.Change, int64, error) {
	s.note("changes")
	return s.Store.Changes(ctx, after, most)
}

func (s *overheard) Audit(ctx context.Context, entries []queue.AuditEntry, settings map[string]string) error {
	s.note("settings")
	return s.Store.Audit(ctx, entries, settings)
}

// TestResumeTellsWhatWaited: a request counts the waiting jobs of a paused pool before it resumes the pool, because
// they may begin at once. The loop is not running, so all calls come from the request.
func TestResumeTellsWhatWaited(t *testing.T) {
	store := &overheard{Store: memory.New("cpu")}
	loop, err := engine.NewLoop(t.Context(), store, engine.LoopOptions{LeaseTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{New(Options{Loop: loop, Store: store}), loop, t}
	if _, err := loop.Client().Submit(t.Context(), queue.Job{User: "ann", Pool: "a", Argv: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	var got api.PauseResponse
	if status := d.send(root, "POST", "/v1/pauses", api.PauseRequest{Pool: "a"}, &got); status != 200 || got.Waiting != 1 {
		t.Fatalf("pause: status %d, %+v", status, got)
	}
	store.asked = nil
	if status := d.send(root, "DELETE", "/v1/pauses?pool=a", nil, &got); status != 200 || got.Waiting != 1 {
		t.Fatalf("resume: status %d, %+v", status, got)
	}
	if len(store.asked) < 2 || store.asked[0] != "changes" {
		t.Errorf("a resume asks the store for %v", store.asked)
	}
}
