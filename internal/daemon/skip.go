package daemon

import (
	"os"
	"testing"
)

// MaySkip reports whether a test may be skipped if the machine lacks something.
func MaySkip() bool { return os.Getenv("FAIRLEAD_NO_SKIP") != "1" }

// Skip skips a test because something is missing, or fails it if no test may be skipped.
func Skip(t testing.TB, lacks any) {
	t.Helper()
	if !MaySkip() {
		t.Fatal(lacks)
	}
	t.Skip(lacks)
}
