package explain

import (
	"context"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Widths are the amounts for which waiting jobs ask, and the placement, which decides which of them
// pass one another.
type Widths struct {
	Placement sched.Placement
	Resource  string // the unit of shares, or "" if all ask for the same of it
	Min, Max  int64  // for which one of them asks at once
	Anew      string // a pool whose policy chooses anew who goes first whenever a task ends; "" if there is none
}

// Widths looks at those of the jobs that have waited longest which could start on the empty machine.
func (ex *Explainer) Widths(ctx context.Context, jobs int) (Widths, error) {
	waiting, err := ex.loop.Store.Jobs(ctx, queue.Query{States: []queue.State{queue.Waiting}, Limit: jobs})
	if err != nil {
		return Widths{}, err
	}
	return engine.Read(ex.loop, func(s *engine.State) Widths {
		w := Widths{Placement: s.Core.Read().Config().Placement, Resource: s.Core.Cluster().Unit()}
		root := s.Core.Read().Config().Root
		if path, uses := root.Using("lottery", "load"); uses {
			w.Anew = engine.RootName(path)
		}
		for _, j := range waiting {
			key := s.JobOf(engine.HeaderOf(j)).Key
			if !s.Core.Cluster().Empty().Could(key) {
				continue
			}
			n := int64(s.Core.Cluster().Width(key)) * int64(max(1, j.Gang))
			if w.Min == 0 || n < w.Min {
				w.Min = n
			}
			w.Max = max(w.Max, n)
		}
		if w.Min == w.Max {
			w.Resource = ""
		}
		return w
	}), nil
}
