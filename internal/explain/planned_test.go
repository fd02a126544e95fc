package explain_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/engine/enginetest"
	"github.com/fairlead/fairlead/internal/explain"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
	"github.com/fairlead/fairlead/why/room"
)

// TestPlannedRoomFollowsTheOrder: the order changes between two plans. The list says that the first job is next. It
// does not say of any later job that room is planned for it. Tasks that end at one instant are processed in any order,
// and some orders leave the plan fresh, so the test plays several runs.
func TestPlannedRoomFollowsTheOrder(t *testing.T) {
	stale := 0
	for range 8 {
		synctest.Test(t, func(t *testing.T) { stale += staleReasons(t) })
	}
	if stale < 40 {
		t.Errorf("the order was another one than at the last plan only %d times", stale)
	}
}

// staleReasons plays a run. It counts how often the first job differed from the first job of the last plan.
func staleReasons(t *testing.T) (stale int) {
	o := engine.LoopOptions{Shares: fairlead.DefaultShares()}
	o.Shares.Sched.Root, o.Shares.Sched.Backfill = share.Pool{Policy: "fairtree"}, sched.Conservative
	loop, stop := start(t, o, 4, enginetest.Lasting)
	defer stop()
	ids := enginetest.Submit(t, loop, fairlead.Job{User: "ann", Array: "1-60", Request: fairlead.Amounts{"cpu": 1},
		Payload: []byte("4s")})
	for range 4 {
		ids = append(ids, enginetest.Submit(t, loop, fairlead.Job{User: "bob", Request: fairlead.Amounts{"cpu": 4},
			Payload: []byte("5s")})...)
	}
	for range 60 {
		time.Sleep(400 * time.Millisecond)
		synctest.Wait() // tasks may end at this instant
		short := explain.New(loop).ShortReasons(t.Context(), enginetest.Jobs(t, loop, ids...))
		kept := engine.Read(loop, func(s *engine.State) map[int64]room.Kept { return s.Core.Read().Kept() })
		for id, r := range short {
			k := kept[id]
			switch {
			case r.Rank == 1 && r.Text != "room; it is next" && (r.Text != "room, kept for it" || !k.First):
				t.Errorf("job %d is next, and waits for %q", id, r.Text)
			case r.Rank > 1 && k.First && !k.Held && !k.Owed:
				if stale++; r.Text != "room" {
					t.Errorf("job %d is number %d, and waits for %q", id, r.Rank, r.Text)
				}
			}
		}
	}
	return stale
}
