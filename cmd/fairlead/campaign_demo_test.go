//go:build campaign

package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// got matches the lines of a demonstration with the share that a user got; waited matches the lines with the waits of
// the same jobs in both halves.
var (
	got    = regexp.MustCompile(`(?m)^ +(alice|bob|carol) +[█·]+ +([0-9.]+)%$`)
	waited = regexp.MustCompile(`(?m)^ +(alice|bob|carol) +(\d+) jobs +fifo (\S+) +fair (\S+)$`)
)

// TestCampaignDemo runs the demonstration without flags, with real processes. Users with little work wait behind the
// flood under FIFO, and hardly wait under fair share.
func TestCampaignDemo(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"demo"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit status %d: %s", code, errs.String())
	}
	t.Log(out.String())
	lines := got.FindAllStringSubmatch(out.String(), -1)
	if len(lines) != 6 {
		t.Fatalf("%d lines of users", len(lines))
	}
	for i, l := range lines {
		part, _ := strconv.ParseFloat(l[2], 64)
		switch fair, flood := i >= 3, l[1] == "alice"; {
		case fair && (part < 25 || part > 42):
			t.Errorf("under fair share %s got %g%%, want a third", l[1], part)
		case !fair && flood && part < 90, !fair && !flood && part > 5:
			t.Errorf("under FIFO %s got %g%%, want all for alice", l[1], part)
		}
	}
	same := waited.FindAllStringSubmatch(out.String(), -1)
	if len(same) != 3 {
		t.Fatalf("%d lines of waits", len(same))
	}
	for _, l := range same[1:] {
		fifo, err1 := time.ParseDuration(l[3])
		fair, err2 := time.ParseDuration(l[4])
		if err1 != nil || err2 != nil || l[2] != "20" || fifo < 10*time.Second || fair > 5*time.Second {
			t.Errorf("%s: %s jobs waited for %s under FIFO and for %s under fair share", l[1], l[2], l[3], l[4])
		}
	}
}
