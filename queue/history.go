package queue

import (
	"context"
	"time"
)

// HistoryKeeper is a store that keeps the history of pools in several resolutions at once: the recent past in short
// steps, the distant past in longer ones; see [HistoryLevels]. It drops steps that are too old, so the number of active
// pools bounds the size of the history.
type HistoryKeeper interface {
	// AddHistory adds to the history. It adds up steps of the same pool, level and time, so that several servers can
	// each add their part of one step, one after the other.
	AddHistory(ctx context.Context, pools []PoolHistory) error
	// PoolHistory returns the history, by pool and time, without the pools that have none.
	PoolHistory(ctx context.Context, q HistoryQuery) ([]PoolHistory, error)
}

// HistoryLevel is one resolution of the history.
type HistoryLevel struct {
	Step time.Duration // length of one step
	Kept time.Duration // how long steps are kept
}

// HistoryLevels are the resolutions, the finest first.
var HistoryLevels = [...]HistoryLevel{
	{10 * time.Second, 24 * time.Hour},
	{5 * time.Minute, 31 * 24 * time.Hour},
	{time.Hour, 2 * 365 * 24 * time.Hour},
}

// PoolHistory is the history of one pool in one resolution.
type PoolHistory struct {
	Pool  string // "" is the root
	Level int    // index in [HistoryLevels]
	Steps []HistoryStep
}

// HistoryQuery selects history.
type HistoryQuery struct {
	Pools    []string // each once
	Level    int
	From, To time.Time // steps that begin at From or later, and before To
}

// HistoryStep is the state of a pool over one step of time. All fields but At and OldestWait are sums over the seconds
// with data, so that steps add up exactly: a mean is the sum divided by Seconds. Stores may round them, to a
// thousandth.
type HistoryStep struct {
	At      time.Time // when the step began
	Seconds float64   // with data; less than the step if the server was down
	Share   float64   // fraction of the pool above that the pool was entitled to
	Used    float64   // fraction of the decayed usage of the pool above that this pool had
	FairNow float64   // units of its entitlement, with the demand of that moment
	Running float64   // units
	Demand  float64   // units that ran or waited
	Waiting float64   // tasks
	// OldestWait is the longest wait of a job, in seconds.
	OldestWait float64
}

// Add adds other data of the same step, or of the step after it.
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

// Times returns the step with Seconds and the sums multiplied by f.
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
