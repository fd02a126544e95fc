package fairlead

import (
	"strings"
	"testing"
)

// TestCancellingReason: of one task and of several it is a sentence.
func TestCancellingReason(t *testing.T) {
	for running, want := range map[int]string{1: "; 1 task of it is being ended on n1", 2: "; 2 tasks of it are being ended on n1"} {
		j := &Job{Running: running, Cause: "enough"}
		if got := cancellingReason(j, []Task{{State: Running, Holder: "n1"}}).Text; !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
