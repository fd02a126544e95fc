package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/why"
	"github.com/fairlead/fairlead/why/room"
)

// TestKeptSaysSeconds: the text shows seconds, so that readers see that nodes are held only after the planned start.
func TestKeptSaysSeconds(t *testing.T) {
	now := time.Date(2026, 11, 22, 21, 32, 0, 0, time.Local)
	held := time.Date(2026, 11, 22, 22, 6, 45, 0, time.Local)
	a := why.Answer{At: now, Kept: &room.Kept{
		Job: 1, From: held.Add(-25 * time.Second), Nodes: []string{"n1"}, Predicted: true, HeldFrom: &held}}
	for _, want := range []string{"from about 22:06:20", "still waits after 22:06:45"} {
		if text := a.Text(); !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}
