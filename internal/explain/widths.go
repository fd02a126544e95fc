package explain

import (
	"context"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
)

// Widths are the amounts that waiting jobs request, and the backfill rule that decides which of these jobs may pass
// which.
type Widths struct {
	Backfill sched.Backfill
	Resource string // the unit of shares, or "" if all request the same amount of it
	Min, Max int64  // smallest and largest amount that one of them requests at once
	Anew     string // a pool whose policy chooses the first job anew whenever a task ends; "" if there is none
}

// Widths reads the jobs that have waited longest, and uses the jobs that could start on an empty cluster.
func (ex *Explainer) Widths(ctx context.Context, jobs int) (Widths, error) {
	waiting, err := ex.loop.Store.Jobs(ctx, queue.Query{States: []queue.State{queue.Waiting}, Limit: jobs})
	if err != nil {
		return Widths{}, err
	}
	return engine.Read(ex.loop, func(s *engine.State) Widths {
		w := Widths{Backfill: s.Core.Read().Config().Backfill, Resource: s.Core.Cluster().Unit()}
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
