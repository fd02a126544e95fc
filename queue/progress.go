package queue

import "time"

// Progress is how far an attempt is whose holder does not run it, but has put it into another
// queueing system, in which it waits for its turn. Such an attempt holds what it holds, and is
// renewed and ended like any other; but it is charged, and counts as running, only from when it
// begins there.
type Progress struct {
	Ref
	// Began is when it began; zero while it waits there.
	Began time.Time
}
