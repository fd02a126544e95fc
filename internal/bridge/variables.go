package bridge

import (
	"cmp"
	"fmt"
	"maps"
)

// Variables are the environment variables of a submission: those of the job, and what tells
// it which task it is, as an agent would. The QS adds what it knows itself, such as PATH.
func (s *Submission) Variables() map[string]string {
	env := maps.Clone(s.Job.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, map[string]string{
		"FAIRLEAD_JOB": fmt.Sprint(s.Ref.JobID), "FAIRLEAD_NUMBER": fmt.Sprint(s.Number), "FAIRLEAD_ATTEMPT": fmt.Sprint(s.Ref.Attempt),
		"FAIRLEAD_NAME": s.Job.Name, "FAIRLEAD_POOL": s.Job.Pool, "FAIRLEAD_CPUS": fmt.Sprint(cmp.Or(s.Job.Request["cpu"], 1)),
		"FAIRLEAD_MARKER": s.Marker,
	})
	return env
}
