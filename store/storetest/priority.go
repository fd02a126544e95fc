package storetest

import (
	"errors"

	"github.com/fairlead/fairlead/queue"
)

func priorityChange(s *suite) {
	id := s.submit(job())[0]
	errs, err := s.Alter(s.ctx, []queue.Alteration{{Job: id, Verb: queue.VerbPrioritise, Priority: "high"}})
	s.must(err)
	s.must(errs[0])
	if j := s.get(id); j.Priority != "high" {
		s.t.Errorf("priority %q", j.Priority)
	}
	qos, nice := "urgent", 7
	errs, err = s.Alter(s.ctx, []queue.Alteration{
		{Job: id, Verb: queue.VerbPrioritise, QOS: &qos}, {Job: id, Verb: queue.VerbPrioritise, Nice: &nice},
	})
	s.must(err)
	s.must(errors.Join(errs...))
	if j := s.get(id); j.Priority != "high" || j.QOS != "urgent" || j.Nice != 7 || len(j.Argv) == 0 {
		s.t.Errorf("after it was altered: %+v", j)
	}
	if l := s.take(id); l.Job.QOS != "urgent" || l.Job.Nice != 7 {
		s.t.Errorf("leased as %+v", l.Job)
	}
}
