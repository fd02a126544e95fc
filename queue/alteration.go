package queue

import "time"

// Alteration is a change of one job that a user asks for.
type Alteration struct {
	Job      int64
	Verb     Verb
	Priority string  // for Prioritise; empty leaves it as it is
	QOS      *string // for Prioritise; nil leaves it as it is
	Nice     *int    // for Prioritise; nil leaves it as it is
	Pool     string  // for Move
	// Limit is the time limit in the other pool, for Move; a client fills it in.
	Limit time.Duration
	Cause string // why, in words
	// By is the user who asks for it, and Admin says that this is an administrator: what one
	// holds of another user's only an administrator releases. Without By the program itself asks,
	// and may do everything.
	By    string
	Admin bool
	// Within are the paths of the pools whose jobs By operates, divided by blanks, if that is no administrator: a
	// job of another user has to be in one of them, or below it, when it is changed.
	Within string
}

// Verb is what to do to a job.
type Verb string

// The verbs.
const (
	VerbCancel     Verb = "cancel"   // waiting tasks never start; running tasks are stopped
	VerbHold       Verb = "hold"     // waiting tasks stay; running tasks go on
	VerbRelease    Verb = "release"  // undoes a hold
	VerbRequeue    Verb = "requeue"  // what ran or runs waits again, from the start
	VerbUncancel   Verb = "uncancel" // undoes a cancel: only what that cancelled waits again
	VerbPrioritise Verb = "prioritise"
	VerbMove       Verb = "move" // to another pool, while no task runs
)
