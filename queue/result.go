package queue

import "time"

// Result is the end of an attempt.
type Result struct {
	Ref
	Outcome Outcome
	// Began is when an attempt began that waited in another queueing system, if that was not
	// said yet, and Ended when it ended; zero is now. Both are by the clock of this process. A store
	// that has another clock counts back from its own, so Ended needs no more than to be kept until
	// the store takes the result.
	Began, Ended time.Time
}

// Verdict is what became of a finished attempt.
type Verdict struct {
	Err   error // [ErrStaleAttempt] if the attempt was over already
	State State // of the job now
	Again bool  // the task waits for another try
}
