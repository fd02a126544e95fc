package bridge

import (
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// Limits of one report. The largest report is far below the maximum that the server reads.
const (
	maxCause = 4 << 10 // bytes
	maxEnds  = 200
	maxRefs  = 10_000
	maxNotes = 1000
)

// ends adds at most "most" ends that the server does not know to a request, without the ends in the argument "again".
// It returns the items of the ends that are in the ledger.
func (s *state) ends(req *api.ReportRequest, most int, again map[queue.Ref]error) []*item {
	for _, f := range s.refused {
		if again[f.Ref] == nil && len(req.Finished) < most {
			req.Finished = append(req.Finished, f)
		}
	}
	var told []*item
	for _, it := range s.items {
		if it.stage == ended && !it.stale && again[it.end.Ref] == nil && len(req.Finished) < most {
			told = append(told, it)
			req.Finished = append(req.Finished, *it.end)
		}
	}
	return told
}

// plainCause replaces a cause that the server refused.
const plainCause = "the report of how it ended was refused"

// plainly reduces the end of a task to its outcome and its times. It takes the lock.
func (s *state) plainly(ref queue.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	plain := func(f *api.Finished) {
		*f = api.Finished{
			Ref: ref, State: f.State, ExitCode: f.ExitCode, Final: f.Final, Cause: plainCause, Began: f.Began, Ended: f.Ended,
		}
	}
	if it := s.items[task{ref.JobID, ref.Task}]; it != nil && it.end != nil {
		plain(it.end)
	}
	for i := range s.refused {
		if s.refused[i].Ref == ref {
			plain(&s.refused[i])
		}
	}
}
