package bench

import (
	"testing"

	"github.com/fairlead/fairlead/sched"
)

func TestReplay(t *testing.T) {
	for _, backfill := range []sched.Backfill{sched.FCFS, sched.EASY, sched.Conservative} {
		r, err := Replay("fair", backfill, 300)
		if err != nil || r.PerSecond <= 0 {
			t.Errorf("%v: got %+v, %v", backfill, r, err)
		}
	}
	if _, err := Replay("none", sched.EASY, 10); err == nil {
		t.Error("a policy that does not exist is replayed")
	}
}
