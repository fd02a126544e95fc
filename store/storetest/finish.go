package storetest

import (
	"errors"

	"github.com/fairlead/fairlead"
)

// finishRefuses: what is no end of an attempt changes nothing, whatever the job is, and
// does not touch the other results of the call.
func finishRefuses(s *suite) {
	for _, array := range []string{"", "0-2"} {
		id := s.submit(job(func(j *fairlead.Job) { j.Array = array }))[0]
		other := s.submit(job())[0]
		l, good := s.take(id), s.take(other)
		for _, state := range []fairlead.State{"", "done", fairlead.Running, fairlead.Waiting, fairlead.Held, fairlead.Blocked} {
			if err := s.finish(l.Ref, fairlead.Outcome{State: state}).Err; !errors.Is(err, fairlead.ErrInvalid) {
				s.t.Errorf("outcome %q: %v", state, err)
			}
			s.state(id, fairlead.Running)
		}
		tasks, err := s.Tasks(s.ctx, id)
		s.must(err)
		if len(tasks) == 0 || tasks[0].State != fairlead.Running || !tasks[0].Ended.IsZero() {
			s.t.Errorf("tasks %+v", tasks)
		}
		v, err := s.Finish(s.ctx, []fairlead.Result{{Ref: l.Ref}, {Ref: good.Ref, Outcome: ok}, {Ref: l.Ref, Outcome: ok}})
		s.must(err)
		if !errors.Is(v[0].Err, fairlead.ErrInvalid) || v[1].Err != nil || v[2].Err != nil {
			s.t.Errorf("verdicts %+v", v)
		}
		s.state(other, fairlead.Succeeded)
	}
}
