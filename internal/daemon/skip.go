package daemon

import (
	"os"
	"testing"
)

// MaySkip reports whether a test may be skipped where the machine lacks what it needs.
func MaySkip() bool { return os.Getenv("FAIRLEAD_NO_SKIP") != "1" }

// Skip skips a test that lacks something, or has it fail where none may be skipped.
func Skip(t testing.TB, lacks any) {
	t.Helper()
	if !MaySkip() {
		t.Fatal(lacks)
	}
	t.Skip(lacks)
}
