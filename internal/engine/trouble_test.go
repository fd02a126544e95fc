package engine_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/store/memory"
)

// TestAnOutageIsLoggedInFewLines counts the errors in the log while the store does not answer for an hour.
func TestAnOutageIsLoggedInFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log strings.Builder
		store := &enginetest.AwayStore{Store: memory.New("cpu")}
		loop, err := newLoop(ctx, store, engine.LoopOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		for hour := range 2 {
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			log.Reset()
			store.Refuses.Store(true)
			time.Sleep(time.Hour)
			store.Refuses.Store(false)
			synctest.Wait()
			if n := strings.Count(log.String(), "level=ERROR"); n < 2 || n > 140 {
				t.Errorf("hour %d: %d errors in the log", hour, n)
			}
		}
		cancel()
		wg.Wait()
	})
}
