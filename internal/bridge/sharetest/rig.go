package sharetest

import (
	"time"

	"github.com/fairlead/fairlead/frontback"
	"github.com/fairlead/fairlead/internal/bridge"
)

// Rig is a queueing system that has nothing to do but what comes from here.
type Rig struct {
	Name   string // for pictures
	Open   func() bridge.QS
	Levels []int64 // priorities for back, front and above
	Slots  int     // jobs that it runs at a time
	// Seconds is how long a job runs; default 0.3.
	Seconds float64
	// Unsharp is how exactly its times are known; default half a second. A job that began so
	// shortly after another one was submitted may have been on its way.
	Unsharp time.Duration
	// Tolerance is by how many points a group may miss its part; default 5. Whoever does not share
	// at all gives each group a third: that is 17 points off.
	Tolerance float64
}

// groups and their parts; each has jobs in all.
var groups = []frontback.Group{
	{Name: "physics", Weight: 50}, {Name: "biology", Weight: 30}, {Name: "chemistry", Weight: 20},
}

const (
	each   = 180 // jobs of a fair-share group
	urgent = 60  // of the priority group
	burst  = 4
	above  = "daq"
	demand = 0.6 // of all slots, by each fair-share group

	atOnce     = "at-once"
	justInTime = "just-in-time"
)
