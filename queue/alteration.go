package queue

import "time"

// Alteration is a change of one job that a user asks for.
type Alteration struct {
	Job      int64
	Verb     Verb
	Priority string  // for Prioritise; empty changes nothing
	QOS      *string // for Prioritise; nil changes nothing
	Nice     *int    // for Prioritise; nil changes nothing
	Pool     string  // for Move
	// Limit is the new time limit, for Limit and Move: [NoLimit] for none. 0 is the limit of the pool; for Move it is the
	// present limit of the job, or the limit of the new pool if the job has none.
	Limit time.Duration
	// Waiting, for Cancel, cancels only the waiting tasks. Running tasks continue, and are not tried again if they
	// fail.
	Waiting bool
	Cause   string // why, in words
	// By is the user who asks for the change, and Admin reports whether that user is an administrator. Only an
	// administrator releases a hold that an administrator put on another user's job. If By is empty, the program itself
	// asks for the change, and may do everything.
	By    string
	Admin bool
	// Within lists, separated by blanks, the paths of the pools that By operates, if By is not an administrator. A job
	// of another user must be in one of these pools, or below it, when it is changed.
	Within string
}

// Verb is the kind of change.
type Verb string

// The verbs.
const (
	VerbCancel     Verb = "cancel"   // waiting tasks never start; running tasks are stopped
	VerbHold       Verb = "hold"     // waiting tasks stay; running tasks continue
	VerbRelease    Verb = "release"  // undoes a hold
	VerbRequeue    Verb = "requeue"  // tasks that ran or run wait again, from the start
	VerbUncancel   Verb = "uncancel" // undoes a cancel: only tasks that it canceled wait again
	VerbPrioritise Verb = "prioritise"
	VerbMove       Verb = "move"  // to another pool, while no task runs
	VerbLimit      Verb = "limit" // sets the time limit, while no task runs
)
