package bridge

import (
	"fmt"
	"maps"

	"github.com/fairlead/fairlead/internal/environ"
)

// Variables returns the environment variables of a submission: the variables of the job, and variables that
// name the task, as an agent sets them. The QS adds others, such as PATH.
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
