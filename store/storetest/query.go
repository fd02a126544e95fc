package storetest

import (
	"slices"

	"github.com/fairlead/fairlead/queue"
)

// queryIsKept: the store does not change the ids of a query, or their order.
func queryIsKept(s *suite) {
	ids := s.submit(job(), job())
	asked := []int64{ids[1], ids[0], ids[1]}
	jobs, err := s.Jobs(s.ctx, queue.Query{IDs: asked})
	s.must(err)
	if len(jobs) != 2 || jobs[0].ID != ids[0] || !slices.Equal(asked, []int64{ids[1], ids[0], ids[1]}) {
		s.t.Errorf("%d jobs were found; the query is %v now", len(jobs), asked)
	}
}
