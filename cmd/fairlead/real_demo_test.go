//go:build real

package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// waits are the lines of a demonstration that say how long a user's jobs waited.
var waits = regexp.MustCompile(`(?m)^ +(alice|bob|carol) .* ([0-9.]+)% +waited (\S+) on average$`)

// TestRealDemo runs the demonstration as it is run without flags, with real processes:
// who asks for little waits for the flood under FIFO, and hardly under fair share.
func TestRealDemo(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"demo"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit status %d: %s", code, errs.String())
	}
	t.Log(out.String())
	lines := waits.FindAllStringSubmatch(out.String(), -1)
	if len(lines) != 6 {
		t.Fatalf("%d lines of users", len(lines))
	}
	for i, l := range lines {
		got, _ := strconv.ParseFloat(l[2], 64)
		wait, err := time.ParseDuration(l[3])
		if err != nil {
			t.Fatal(err)
		}
		fair, flood := i >= 3, l[1] == "alice"
		switch {
		case fair && (got < 25 || got > 42):
			t.Errorf("under fair share %s got %g%%, want a third", l[1], got)
		case fair && !flood && wait > 5*time.Second:
			t.Errorf("under fair share %s waited for %s", l[1], wait)
		case !fair && flood && got < 90, !fair && !flood && got > 5:
			t.Errorf("under FIFO %s got %g%%, want all for alice", l[1], got)
		case !fair && !flood && wait < 10*time.Second:
			t.Errorf("under FIFO %s waited for %s only", l[1], wait)
		}
	}
}
