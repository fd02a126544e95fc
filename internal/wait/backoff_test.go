package wait_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/wait"
)

// TestBackoff checks that pauses grow up to the maximum, and differ.
func TestBackoff(t *testing.T) {
	b := wait.Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second}
	seen := map[time.Duration]bool{}
	for i := range 30 {
		want := min(100*time.Millisecond<<min(i, 10), 5*time.Second)
		got := b.Next()
		seen[got] = true
		if got < want*3/4 || got > want*5/4 {
			t.Errorf("pause %d is %v, want about %v", i, got, want)
		}
	}
	if len(seen) < 20 {
		t.Errorf("30 pauses are %d different ones", len(seen))
	}
	b.Reset()
	if got := b.Next(); got > 125*time.Millisecond {
		t.Errorf("after a reset it is %v", got)
	}
}
