package wait_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// TestOutage checks that there is one line when the other side goes away, then fewer and fewer lines, at most
// about one per minute, and one line when it is back, with the length of the outage.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := wait.NewOutage(slog.New(slog.NewTextHandler(&out, nil)), "it is away", "it is back")
		lines := func() int { return strings.Count(out.String(), "\n") }
		o.Answer()
		if lines() != 0 {
			t.Fatalf("before anything went: %s", &out)
		}
		var at []time.Duration
		began := time.Now()
		for time.Since(began) < 10*time.Minute {
			before := lines()
			o.Fail(errors.New("refused"))
			if lines() > before {
				at = append(at, time.Since(began))
			}
			time.Sleep(500 * time.Millisecond)
		}
		if len(at) < 10 || len(at) > 20 || at[0] != 0 {
			t.Errorf("lines in ten minutes at %v", at)
		}
		for i := 2; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < 3*time.Second || gap > 76*time.Second {
				t.Errorf("%v between two lines", gap)
			}
		}
		if last := at[len(at)-1] - at[len(at)-2]; last < 45*time.Second {
			t.Errorf("in the end a line each %v", last)
		}
		n := lines()
		o.Answer()
		o.Answer()
		if lines() != n+1 || !strings.Contains(out.String(), `it is back" after=10m0s tries=1200`) {
			t.Errorf("back: %s", out.String()[max(0, out.Len()-300):])
		}
		o.Fail(errors.New("refused"))
		if lines() != n+2 {
			t.Error("nothing is said when it goes again")
		}
	})
}

// TestOutageRefuses checks that a refusal has a text of its own, because the other side did answer.
func TestOutageRefuses(t *testing.T) {
	var out bytes.Buffer
	o := wait.NewOutage(slog.New(slog.NewTextHandler(&out, nil)), "it is away", "it is back").Refuses("it refuses")
	o.Fail(fmt.Errorf("no such user: %w", wait.ErrRefused))
	want := `msg="it refuses; trying again" error="no such user: it refuses us"`
	if !strings.Contains(out.String(), want) {
		t.Error(&out)
	}
	o.Answer()
	out.Reset()
	o.Fail(errors.New("refused"))
	if text := out.String(); !strings.Contains(text, `msg="it is away; trying again"`) {
		t.Error(text)
	}
}
