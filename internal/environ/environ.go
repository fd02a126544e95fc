// Package environ has the environment variables that describe a task to its processes, whoever starts it: an agent,
// or a queueing system behind a bridge. It also names the variables with which a job instructs its agent or bridge.
package environ

import (
	"fmt"
	"maps"
	"slices"
)

const (
	// Marker, in the environment of a job, says that it came from another server through a bridge: it
	// knows itself by the numbers that it has there, which are in its environment.
	Marker = "FAIRLEAD_MARKER"
	// Trail, in the environment of a job, says through which bridges it came: for each its name and the
	// mark of its ledger, the first one first.
	Trail = "FAIRLEAD_TRAIL"
	// Compat, in the environment of a job, names a batch system whose variables its script expects: slurm
	// or pbs. The command line sets it for scripts with directives of that system.
	Compat = "FAIRLEAD_COMPAT"
	// Processes, in the environment of a job, is the --ntasks of its script: how many processes its task
	// starts, which share the task's processors.
	Processes = "FAIRLEAD_NTASKS"
	// Work, in the environment of a job, says how much work the job is, in the units of an
	// administrator's choice.
	Work = "FAIRLEAD_WORK"
)

// User is what every task of a user finds. Nothing of the environment of what starts it is in it.
func User(name, home string) map[string]string {
	return map[string]string{
		"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "USER": name, "LOGNAME": name,
		"SHELL": "/bin/sh", "LANG": "C.UTF-8",
	}
}

// Task is what a task is called.
type Task struct {
	Job             int64
	Number, Attempt int
	Name, Pool      string
}

// Variables tell a task what it is called.
func (t Task) Variables() map[string]string {
	return map[string]string{
		"FAIRLEAD_JOB": fmt.Sprint(t.Job), "FAIRLEAD_NUMBER": fmt.Sprint(t.Number),
		"FAIRLEAD_ATTEMPT": fmt.Sprint(t.Attempt), "FAIRLEAD_NAME": t.Name, "FAIRLEAD_POOL": t.Pool,
	}
}

// List is an environment as a program gets it: NAME=value, sorted.
func List(env map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}
