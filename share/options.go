package share

import "time"

// Options are the settings of a pool's policy. Each policy reads its own settings and ignores the others; an
// omitted setting has the policy's default. Pools below that name no policy inherit both policy and options.
type Options struct {
	Rounding  string // policy load: exact or scoot; "" is exact
	Rebalance Rebalance
	Compat    string // policy fairtree: slurm, or "" for the documented rules
	Decay     Decay
}

// Rebalance says when the policy load stops tasks of children above their load; the zero value means never.
type Rebalance struct {
	Threshold   float64       // of the spread, in percentage points
	MinDuration time.Duration // how long the spread must exceed Threshold
}

// MaxDays is the largest number of days that the policy decay counts separately.
const MaxDays = 64

// Decay sets how the policy decay counts past usage.
type Decay struct {
	HalfLife     bool    // use the half-life of the configuration instead of days
	Days         int     // number of days that count; 0 is 7
	Factor       float64 // weight of a day relative to the day after it; 0 is 0.7
	ScaleByShare bool    // multiply the use by the share
}
