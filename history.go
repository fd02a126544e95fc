package fairlead

import (
	"context"
	"time"
)

// HistoryKeeper is a store that keeps how pools fared, in several resolutions at once: the
// recent past step by step, what is long ago in longer steps; see [HistoryLevels]. What is
// too old goes by itself, so that what is kept is bounded by the number of pools that
// had something to do.
type HistoryKeeper interface {
	// AddHistory adds to what is kept: steps of the same pool, level and time add up, so that
	// several servers, one after the other, may each bring what they saw of one step.
	AddHistory(ctx context.Context, pools []PoolHistory) error
	// PoolHistory returns what is kept, by pool and time. Pools of which nothing is kept are
	// left out.
	PoolHistory(ctx context.Context, q HistoryQuery) ([]PoolHistory, error)
}

// HistoryLevel is a resolution in which history is kept.
type HistoryLevel struct {
	Step time.Duration // what becomes one
	Kept time.Duration // for how long
}

// HistoryLevels are the resolutions, the finest first.
var HistoryLevels = [...]HistoryLevel{
	{10 * time.Second, 24 * time.Hour},
	{5 * time.Minute, 31 * 24 * time.Hour},
	{time.Hour, 2 * 365 * 24 * time.Hour},
}

// PoolHistory is how one pool fared in one resolution.
type PoolHistory struct {
	Pool  string // "" is the root
	Level int    // of [HistoryLevels]
	Steps []HistoryStep
}

// HistoryQuery selects history.
type HistoryQuery struct {
	Pools    []string // each once
	Level    int
	From, To time.Time // steps that begin from From on, and before To
}

// HistoryStep is how a pool fared during a step of time. But for At and OldestWait all are
// sums over the seconds that are known, so that steps add up exactly: a mean is the
// sum divided by Seconds. Stores may round them, to a thousandth.
type HistoryStep struct {
	At      time.Time // when the step began
	Seconds float64   // that are known; less than the step if the server was not there
	Share   float64   // fraction of the pool above that the pool was entitled to
	Used    float64   // fraction of what the pool above used, decayed, that it had
	FairNow float64   // units that were its due, given the demand of that moment
	Running float64   // units
	Demand  float64   // units that ran or waited
	Waiting float64   // tasks
	// OldestWait is the longest that a job had waited, in seconds.
	OldestWait float64
}

// Add adds what else is known of the same time, or of the time after it.
func (s *HistoryStep) Add(o HistoryStep) {
	s.Seconds += o.Seconds
	s.Share += o.Share
	s.Used += o.Used
	s.FairNow += o.FairNow
	s.Running += o.Running
	s.Demand += o.Demand
	s.Waiting += o.Waiting
	s.OldestWait = max(s.OldestWait, o.OldestWait)
}

// times is a part of the step, or a multiple.
func (s HistoryStep) times(f float64) HistoryStep {
	s.Seconds *= f
	s.Share *= f
	s.Used *= f
	s.FairNow *= f
	s.Running *= f
	s.Demand *= f
	s.Waiting *= f
	return s
}

// HistoryPoint is a step as it is shown: means over the time that is known. Steps of which
// nothing is known are left out.
type HistoryPoint struct {
	At      time.Time `json:"at"`      // when the step began
	Seconds float64   `json:"seconds"` // of the step that are known: a server was there
	// Share and Used are fractions of the pool above. They are null where the pool had
	// nothing that ran or waited.
	Share   *float64 `json:"share"`
	Used    *float64 `json:"used"`
	FairNow float64  `json:"fair_now"` // units that were its due
	Running float64  `json:"running"`  // units
	Demand  float64  `json:"demand"`   // units that ran or waited
	Waiting float64  `json:"waiting"`  // tasks
	// OldestWait is the longest that a job had waited at any moment of the step.
	OldestWait float64 `json:"oldest_wait_seconds"`
}

// point is what a step shows, in which so many seconds are known of the root. Where nothing is
// known of the pool it had nothing.
func (s HistoryStep) point(known float64) HistoryPoint {
	known = max(known, s.Seconds)
	p := HistoryPoint{
		At: s.At, Seconds: known, FairNow: s.FairNow / known, Running: s.Running / known, Demand: s.Demand / known,
		Waiting: s.Waiting / known, OldestWait: s.OldestWait,
	}
	if s.Seconds > 0 {
		share, used := s.Share/s.Seconds, s.Used/s.Seconds
		p.Share, p.Used = &share, &used
	}
	return p
}
