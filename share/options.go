package share

import "time"

// Options are the settings of a pool's policy. Each policy reads its own and ignores
// the others; a setting that is left out has the policy's default. They belong to the pool that
// names the policy, and go with it to the pools below that name none.
type Options struct {
	Rounding  string // of load: exact or scoot; "" is exact
	Rebalance Rebalance
	Compat    string // of fairtree: slurm, or "" for the rules as documented
	Decay     Decay
}

// Rebalance says when the policy load stops tasks of children that are over their
// load; the zero value is never.
type Rebalance struct {
	Threshold   float64       // of the spread, in percentage points
	MinDuration time.Duration // for which the spread has to be above it
}

// MaxDays bounds the days that the policy decay keeps apart.
const MaxDays = 64

// Decay is how the policy decay counts past use.
type Decay struct {
	HalfLife     bool    // by the half-life of the configuration instead of by days
	Days         int     // that count; 0 is 7
	Factor       float64 // a day counts this many times the one after it; 0 is 0.7
	ScaleByShare bool    // multiply the use by the share
}
