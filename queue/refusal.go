package queue

import "time"

// Refusal says why a machine could not begin a task, in an [Outcome] whose state is Failed. Such an attempt does not
// count toward the retries of its job, and is charged nothing.
type Refusal string

// The sorts of refusal.
const (
	// RefusedMachine: the machine can begin no tasks, of any user.
	RefusedMachine Refusal = "machine"
	// RefusedUser: the machine cannot run tasks of this user, for example because it does not know the user.
	RefusedUser Refusal = "user"
	// RefusedRule: the machine is not meant to run tasks of this user. That is no fault of the machine.
	RefusedRule Refusal = "rule"
	// RefusedJob: something that the job names does not exist, such as its directory. It may exist on other machines,
	// or nowhere.
	RefusedJob Refusal = "job"
	// RefusedNow: as RefusedMachine, but no other machine can take the task, so this one may try again later. Only the
	// engine sets it, workers do not.
	RefusedNow Refusal = "now"
)

// Refusals returns the refusals that a worker may report.
func Refusals() []Refusal { return []Refusal{RefusedMachine, RefusedUser, RefusedRule, RefusedJob} }

// Avoided is a node that could not begin a task of a job. It gets no more tasks of the job until an administrator
// resumes the node.
type Avoided struct {
	Node  string    `json:"node"`
	At    time.Time `json:"at"`
	Cause string    `json:"cause"` // in words
}
