package agent

import (
	"errors"
	"fmt"

	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/queue"
)

// userError says why this machine does not run the tasks of a user.
type userError struct {
	text string
	rule bool // the agent's options exclude the user
}

func (e *userError) Error() string { return e.text }

func notRun(format string, args ...any) error { return &userError{text: fmt.Sprintf(format, args...)} }

// notMeant is notRun for a user whom the agent's options exclude. Such a refusal does not count as a fault of the
// machine.
func notMeant(format string, args ...any) error {
	return &userError{text: fmt.Sprintf(format, args...), rule: true}
}

// unstarted returns the outcome of a task that could not be started. It says whether the user, the machine or the job
// is the reason; the outcome is final if the task would fail on every machine.
func unstarted(err error) queue.Outcome {
	o := queue.Outcome{
		State: queue.Failed, ExitCode: -1, Cause: "could not be started: " + err.Error(), Refused: queue.RefusedJob,
	}
	var (
		user    *userError
		machine *process.MachineError
		spec    *process.SpecError
		name    *process.NameError
	)
	switch {
	case errors.As(err, &user) && user.rule:
		o.Refused = queue.RefusedRule
	case errors.As(err, &user):
		o.Refused = queue.RefusedUser
	case errors.As(err, &machine):
		o.Refused = queue.RefusedMachine
	case errors.As(err, &spec):
		o.Final = true
	case errors.As(err, &name):
		o.NotFound = name.NotFound
		if name.Exit > 0 {
			o.ExitCode, o.Cause = name.Exit, err.Error()
		}
	}
	return o
}
