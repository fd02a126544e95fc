package queue

import "time"

// Result is the end of an attempt.
type Result struct {
	Ref
	Outcome Outcome
	// Began is when an attempt that waited in another queueing system began, if nobody has reported that yet. Ended
	// is when the attempt ended. Zero means now. Both use the clock of this process. A store with another clock
	// counts back from its own present, so keep Ended only until the store takes the result.
	Began, Ended time.Time
}

// Verdict is a store's answer to the Result of an attempt.
type Verdict struct {
	Err   error // [ErrStaleAttempt] if the attempt was over already
	State State // of the job now
	Again bool  // the task waits for another attempt
}
