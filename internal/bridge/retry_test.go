package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/wait"
)

// TestTriesAgain checks that Retry waits longer from try to try, logs only failures, and gives up when its
// context ends.
func TestTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		away := wait.NewOutage(slog.New(slog.NewTextHandler(&out, nil)), "it is away", "it is back")
		try := bridge.NewRetry(away, time.Second, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		again := func(err error, least, most time.Duration) {
			t.Helper()
			began := time.Now()
			if !try.Again(ctx, err) || time.Since(began) < least || time.Since(began) > most {
				t.Errorf("waited %v, want %v to %v", time.Since(began), least, most)
			}
		}
		again(nil, 750*time.Millisecond, 1250*time.Millisecond)
		if out.Len() > 0 {
			t.Errorf("without a failure: %s", &out)
		}
		again(errors.New("refused"), 1500*time.Millisecond, 2500*time.Millisecond)
		if !strings.Contains(out.String(), `msg="it is away; trying again" error=refused`) {
			t.Errorf("after a failure: %s", &out)
		}
		try.Answered()
		if !strings.Contains(out.String(), "it is back") {
			t.Errorf("after an answer: %s", &out)
		}
		again(nil, 750*time.Millisecond, 1250*time.Millisecond)
		out.Reset()
		cancel()
		if try.Again(ctx, errors.New("cancelled")) || out.Len() > 0 {
			t.Errorf("after the end: %s", &out)
		}
	})
}
