package engine

import (
	"time"

	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Stats counts the actions of an engine since it was created.
type Stats struct {
	Steps     uint64
	Started   uint64
	Finished  uint64
	Lost      uint64
	Refused   uint64 // attempts that their machines could not begin
	Drained   uint64 // nodes that were drained because they began no tasks
	LastStep  time.Time
	StepTime  time.Duration        // of the last step
	Stops     map[string]StopCount // by rule
	LastError string
	ErrorAt   time.Time
	Failing   bool // the action of LastError has not succeeded since
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

// beat holds the counts at an instant.
type beat struct {
	at             time.Time
	steps, started uint64
}

// beats are the beats of the last minute, and one before it.
type beats []beat

// note adds a beat.
func (b *beats) note(now time.Time, s *Stats) {
	*b = append(*b, beat{now, s.Steps, s.Started})
	for len(*b) > 2 && now.Sub((*b)[1].at) > time.Minute {
		*b = (*b)[1:]
	}
}

// Recounted is a comparison of the engine's running sums with a recount of the running and waiting tasks.
type Recounted struct {
	At   time.Time
	Took time.Duration // no decisions are made meanwhile
	// Wrong are the sums that differ. Any difference is a bug. A new engine counts from the store again.
	Wrong []sched.Difference
}

// trouble holds the actions whose last try failed. The state's lock guards it.
type trouble struct {
	with  map[string]*repeated
	tried chan struct{} // closed when one of them was tried again
}

func (t *trouble) notify() {
	if t.tried != nil {
		close(t.tried)
	}
	t.tried = make(chan struct{})
}
