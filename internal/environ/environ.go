// Package environ defines the environment variables that describe a task to its processes, whether an agent
// starts it or a queueing system behind a bridge. It also defines the variables with which a job instructs
// its agent or bridge.
package environ

import (
	"fmt"
	"maps"
	"slices"
)

const (
	// Marker, in the environment of a job, says that the job came from another server through a bridge: its
	// environment holds the numbers that it has at that server.
	Marker = "FAIRLEAD_MARKER"
	// Trail, in the environment of a job, lists the bridges through which it came: for each its name and the
	// mark of its ledger, the first bridge first.
	Trail = "FAIRLEAD_TRAIL"
	// Compat, in the environment of a job, names the batch system whose variables its script expects: slurm
	// or pbs. The command line sets it for scripts with directives of that system.
	Compat = "FAIRLEAD_COMPAT"
	// Processes, in the environment of a job, is the --ntasks of its script: the number of processes that its
	// task starts, which share the task's processors.
	Processes = "FAIRLEAD_NTASKS"
	// Work, in the environment of a job, is the amount of its work, in units that an administrator chooses.
	Work = "FAIRLEAD_WORK"
)

// User returns the variables that every task of a user gets. They contain nothing from the environment of the
// process that starts the task.
func User(name, home string) map[string]string {
	return map[string]string{
		"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "USER": name, "LOGNAME": name,
		"SHELL": "/bin/sh", "LANG": "C.UTF-8",
	}
}

// Task identifies a task and its attempt.
type Task struct {
	Job             int64
	Number, Attempt int
	Name, Pool      string
}

// Variables returns the variables that identify a task.
func (t Task) Variables() map[string]string {
	return map[string]string{
		"FAIRLEAD_JOB": fmt.Sprint(t.Job), "FAIRLEAD_NUMBER": fmt.Sprint(t.Number),
		"FAIRLEAD_ATTEMPT": fmt.Sprint(t.Attempt), "FAIRLEAD_NAME": t.Name, "FAIRLEAD_POOL": t.Pool,
	}
}

// List returns an environment in the form for programs: NAME=value, sorted.
func List(env map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}
