package fairlead

import (
	"maps"
	"time"

	"github.com/fairlead/fairlead/why"
)

// Stats counts what a loop did since it was made.
type Stats struct {
	Steps     uint64
	Started   uint64
	Finished  uint64
	Lost      uint64
	LastStep  time.Time
	StepTime  time.Duration        // of the last step
	Stops     map[string]StopCount // by rule
	LastError string
	ErrorAt   time.Time
}

// StopCount is what was stopped by one rule.
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

// Stats returns what the loop did since it was made.
func (l *Loop) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Stops = maps.Clone(s.Stops)
	return s
}
