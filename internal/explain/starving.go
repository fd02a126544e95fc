package explain

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// Starving is a pool that, for longer than its timeout, has had less than reclaim should give it, and for which no
// running task may be stopped.
type Starving struct {
	Pool     string
	Resource string // the resource of these amounts
	Running  float64
	Goal     float64 // its minimum or, if Minimum is not set, its entitlement
	Minimum  bool
	Since    time.Time
	// Protected is the number of units that other pools hold with tasks that are never stopped.
	Protected float64
	Unit      string
}

// Starving lists the pools for which reclaim can do nothing. If several servers share a store, only the server that
// stops tasks knows these pools.
func (ex *Explainer) Starving(ctx context.Context) []Starving {
	if err := ex.loop.Refresh(ctx); err != nil {
		ex.loop.Log.Warn("the pools are from an older state", "error", err)
	}
	return engine.Read(ex.loop, func(s *engine.State) []Starving {
		return starvingPools(s)
	})
}

func starvingPools(s *engine.State) []Starving {
	var all []Starving
	for _, x := range s.Core.Read().Starving() {
		all = append(all, starvingOf(s, x))
	}
	return all
}

func starvingOf(s *engine.State, x sched.Starving) Starving {
	return Starving{
		Pool: s.Core.Path(x.Pool), Resource: s.Core.Cluster().Resource(x.Resource), Running: x.Running, Goal: x.Goal,
		Minimum: x.Rule == sched.StopMin, Since: x.Since, Protected: x.Protected, Unit: s.Core.Cluster().Unit(),
	}
}

// Text describes the starving pool in words, as of an instant.
func (s *Starving) Text(now time.Time) string {
	goal := "entitlement"
	if s.Minimum {
		goal = "min"
	}
	text := fmt.Sprintf("%s has had %s %s of its %s of %s for %s, and nothing may be stopped for it: ",
		s.Pool, why.Short(s.Running), s.Resource, goal, why.Short(s.Goal), why.Duration(now.Sub(s.Since)))
	if s.Protected > 0 {
		text += fmt.Sprintf("%s %s are held by tasks of pools with protect: true, and ", why.Short(s.Protected), s.Unit)
	}
	return text + "the other pools have no more than their own min and entitlement, or go first"
}
