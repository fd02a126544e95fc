package storetest

import (
	"fmt"

	"github.com/fairlead/fairlead/queue"
)

// limitsReachTheScheduler: snapshots and changes have the licenses, rates and constraint of each job, for
// waiting and running tasks, for a job with one task and for an array.
func limitsReachTheScheduler(s *suite) {
	_, cursor := s.changes(0)
	var ids []int64
	for _, array := range []string{"", "0-2"} {
		ids = append(ids, s.submit(job(func(j *queue.Job) {
			j.Array, j.Retries = array, 1
			j.Licenses, j.Rates = queue.Amounts{"matlab": 2}, []string{"linkedin", "mail"}
			j.Constraint, j.Reservation = "rack=b", "course"
		}))...)
	}
	check := func(where string, h queue.Header) {
		if got := fmt.Sprint(h.Licenses, h.Rates, " ", h.Constraint, " ", h.Reservation); got != "map[matlab:2] [linkedin mail] rack=b course" {
			s.t.Errorf("%s of job %d: %s", where, h.ID, got)
		}
	}
	for _, id := range ids {
		l := s.take(id)
		if got := fmt.Sprint(l.Job.Licenses, l.Job.Rates, " ", l.Job.Constraint, " ", l.Job.Reservation); got != "map[matlab:2] [linkedin mail] rack=b course" {
			s.t.Errorf("the lease of job %d: %s", id, got)
		}
		s.finish(l.Ref, failed)
		s.take(ids[1])
	}
	changes, _ := s.changes(cursor)
	for _, c := range changes {
		check("a change", c.Job)
	}
	seen := map[queue.What]int{}
	_, err := s.Snapshot(s.ctx, func(c queue.Change) error {
		seen[c.What]++
		check("the snapshot", c.Job)
		return nil
	})
	s.must(err)
	if len(changes) < 4 || seen[queue.Waited] == 0 || seen[queue.Runs] == 0 {
		s.t.Errorf("%d changes, and in the snapshot %v", len(changes), seen)
	}
}
