package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

func TestPauseText(t *testing.T) {
	from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, task := range map[string]queue.Task{
		"its handler postponed it until T": {Outcome: queue.Outcome{State: queue.Cancelled}},
		"pause until T, because n1 could not begin it: no space": {Holder: "n1", Outcome: queue.Outcome{
			State: queue.Failed, Cause: "no space", Refused: queue.RefusedNow}},
		"pause before attempt 3 until T, because it failed": {Fails: 2, Outcome: queue.Outcome{State: queue.Failed}},
	} {
		if got := strings.ReplaceAll(pauseText(from, &task), "2026-01-02T03:04:05Z", "T"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
