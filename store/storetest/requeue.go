package storetest

import "github.com/fairlead/fairlead"

// requeuedDependent: a job that was cancelled while it waited for others, and requeued,
// waits for nobody, and how they end does not touch it.
func requeuedDependent(s *suite) {
	for _, on := range []fairlead.DependsOn{fairlead.OnOK, fairlead.OnFailed} {
		first := s.submit(job())[0]
		second := s.submit(job(func(j *fairlead.Job) { j.After = []fairlead.Dependency{{Job: first, On: on}} }))[0]
		s.must(s.alter(second, fairlead.VerbCancel))
		s.must(s.alter(second, fairlead.VerbRequeue))
		s.state(second, fairlead.Waiting)
		s.finish(s.take(first).Ref, ok)
		if j := s.state(second, fairlead.Waiting); j.Pending != 0 {
			s.t.Errorf("it waits for %d others", j.Pending)
		}
		s.finish(s.take(second).Ref, ok)
		s.state(second, fairlead.Succeeded)
	}
}
