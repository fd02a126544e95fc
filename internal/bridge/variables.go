package bridge

import (
	"fmt"
	"maps"

	"github.com/fairlead/fairlead/internal/environ"
)

// Variables are the environment variables of a submission: those of the job, and what tells
// it which task it is, as an agent would. The QS adds what it knows itself, such as PATH.
func (s *Submission) Variables() map[string]string {
	env := maps.Clone(s.Job.Env)
	if env == nil {
		env = map[string]string{}
	}
	t := environ.Task{
		Job: s.Ref.JobID, Number: s.Number, Attempt: s.Ref.Attempt, Name: s.Job.Name, Pool: s.Job.Pool,
	}
	maps.Copy(env, t.Variables())
	env["FAIRLEAD_CPUS"], env[environ.Marker] = fmt.Sprint(max(1, s.Job.Request["cpu"])), s.Marker
	return env
}
