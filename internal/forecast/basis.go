package forecast

import (
	"time"

	"github.com/fairlead/fairlead/why/room"
)

// basis is what the start rests on that is named for a waiting job.
type basis int

const (
	unfounded basis = iota // no start is named
	replayed               // the latest start, from a replay in which tasks run until their time limits
	usual                  // the likely start, from replays in which tasks run for as long as recent ones
	planned                // when the room that is kept for the job becomes free
)

// found is what replays have found of the start of a job.
type found struct {
	latest, likely bool
	// later means that guesses of run times, if there is nothing better, let the job start after its planned room is
	// free.
	later bool
}

// basisOf chooses the start that is named for a job, in lists and in the answer to why: k is the room that is kept for
// the job (nil: none). If the order of the jobs cannot change, the planned start holds. If it can, replays know more,
// because they follow the changes; then a plan from predicted run times tells nothing of a job that is not the first.
func basisOf(k *room.Kept, f found) basis {
	switch {
	case f.latest && (k == nil || k.MayMove):
		return replayed
	case f.likely && (k == nil || k.MayMove && !k.Held):
		return usual
	case k == nil || k.Overdue || k.Predicted && (k.Tentative() || f.later && !k.Held):
		return unfounded
	}
	return planned
}

// afterPlanned reports whether a start is clearly later than the planned room is free: by at least a second.
func afterPlanned(k *room.Kept, start time.Time) bool { return start.Sub(k.From) >= time.Second }
