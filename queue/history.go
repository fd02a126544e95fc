package queue

import (
	"context"
	"time"
)

// HistoryKeeper is a store that keeps how pools fared, in several resolutions at once: the
// recent past step by step, the distant past in longer steps; see [HistoryLevels]. It drops
// steps that are too old, so that the number of pools that had something to do bounds the size
// of the history.
type HistoryKeeper interface {
	// AddHistory adds to the history: steps of the same pool, level and time add up, so that
	// several servers, one after the other, may each bring what they saw of one step.
	AddHistory(ctx context.Context, pools []PoolHistory) error
	// PoolHistory returns the history, by pool and time. Pools without history are
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

// Times is a part of the step, or a multiple.
func (s HistoryStep) Times(f float64) HistoryStep {
	s.Seconds *= f
	s.Share *= f
	s.Used *= f
	s.FairNow *= f
	s.Running *= f
	s.Demand *= f
	s.Waiting *= f
	return s
}
