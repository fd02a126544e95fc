package forecast

import (
	"time"

	"github.com/fairlead/fairlead/why/room"
)

// basis is the kind of evidence behind the start that is named for a waiting job.
type basis int

const (
	unfounded basis = iota // no start is named
	replayed               // the latest start, from a replay in which tasks run until their time limits
	usual                  // the likely start, from replays in which tasks run for as long as recent ones
	planned                // when the room that is kept for the job becomes free
)

// found is the result of replays about the start of a job.
type found struct {
	latest, likely bool
	// later means that the job starts after its planned room is free, according to guesses of run times, which are
	// used if nothing better is known.
	later bool
}

// basisOf chooses the start that is named for a job, in lists and in the answer to why: k is the room that is kept for
// the job (nil: none). If the order of the jobs cannot change, the planned start holds. If it can, replays are better,
// because they follow the changes. Then a plan from predicted run times says nothing about a job that is not the
// first.
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
