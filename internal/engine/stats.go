package engine

import (
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Stats counts what a loop did since it was made.
type Stats struct {
	Steps     uint64
	Started   uint64
	Finished  uint64
	Lost      uint64
	Refused   uint64 // attempts that their machines could not begin
	Drained   uint64 // nodes that were drained as they began nothing
	LastStep  time.Time
	StepTime  time.Duration        // of the last step
	Stops     map[string]StopCount // by rule
	LastError string
	ErrorAt   time.Time
	Failing   bool // what failed then has not worked since
}

// StopCount counts the tasks that one rule stopped.
type StopCount struct {
	Tasks uint64
	Lost  float64 // slot-seconds
}

func (s *Stats) stopped(x *why.Stop) {
	if s.Stops == nil {
		s.Stops = map[string]StopCount{}
	}
	c := s.Stops[x.Rule]
	s.Stops[x.Rule] = StopCount{c.Tasks + 1, c.Lost + x.Lost}
}

// beat is what had been done at an instant.
type beat struct {
	at             time.Time
	steps, started uint64
}

// beats are those of the last minute and one before it.
type beats []beat

// note adds a beat.
func (b *beats) note(now time.Time, s *Stats) {
	*b = append(*b, beat{now, s.Steps, s.Started})
	for len(*b) > 2 && now.Sub((*b)[1].at) > time.Minute {
		*b = (*b)[1:]
	}
}

// Recounted is a comparison of the sums that the loop keeps from event to event with a recount of
// the running and waiting tasks.
type Recounted struct {
	At   time.Time
	Took time.Duration // nothing is decided meanwhile
	// Wrong are the sums that differ. There are none unless the program counts wrongly; a loop
	// that is made anew counts from the store.
	Wrong []sched.Difference
}

// trouble is what failed when it was tried last. The loop's mu guards it.
type trouble struct {
	with  map[string]bool
	tried chan struct{} // closed when something of it was tried again
}

func (t *trouble) notify() {
	if t.tried != nil {
		close(t.tried)
	}
	t.tried = make(chan struct{})
}
