package sharetest

import (
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
)

// Rig is a queueing system that runs only the jobs of this test.
type Rig struct {
	Name   string // for figures
	Open   func() bridge.QS
	Levels []int64 // priorities for back, front and above
	Slots  int     // jobs that it runs at a time
	// Seconds is how long a job runs; default 0.3.
	Seconds float64
	// Unsharp is the uncertainty of its times; default half a second. If a job began within this time after
	// another one was submitted, it may already have been on its way.
	Unsharp time.Duration
	// Tolerance is how many percentage points the service of a group may differ from its share; default 5. A
	// QS that does not share at all gives each group a third, which is 17 points off.
	Tolerance float64
}

// groups are the fair-share groups; their weights are their shares in percent.
var groups = []frontback.Group{
	{Name: "physics", Weight: 50}, {Name: "biology", Weight: 30}, {Name: "chemistry", Weight: 20},
}

const (
	each   = 180 // jobs of a fair-share group
	urgent = 60  // jobs of the priority group
	burst  = 4
	above  = "daq"
	demand = 0.6 // demand of each fair-share group, as a part of all slots

	atOnce     = "at-once"
	justInTime = "just-in-time"
)
