package queue

import "time"

// Refusal says why a machine could not begin a task, in an [Outcome] that is Failed. Such an
// attempt is none of the tries of its job, and nothing is charged for it.
type Refusal string

// The sorts of refusal.
const (
	// RefusedMachine: the machine can begin nothing, be it whose it may.
	RefusedMachine Refusal = "machine"
	// RefusedUser: the machine does not run tasks of this user.
	RefusedUser Refusal = "user"
	// RefusedJob: something that the job names is not there, such as its directory. It may be
	// on other machines, or nowhere.
	RefusedJob Refusal = "job"
	// RefusedNow: as RefusedMachine, where there is no other machine for the task: this one may
	// try again later. A loop says so, and no worker.
	RefusedNow Refusal = "now"
)

// Refusals returns the refusals that a worker may report.
func Refusals() []Refusal { return []Refusal{RefusedMachine, RefusedUser, RefusedJob} }

// Avoided is a node that could not begin a task of a job. It gets none of them again, until an
// administrator resumes the node.
type Avoided struct {
	Node  string    `json:"node"`
	At    time.Time `json:"at"`
	Cause string    `json:"cause"` // in words
}
