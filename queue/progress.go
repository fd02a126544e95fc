package queue

import "time"

// Progress reports on an attempt that its holder put into another queueing system, where it waits to begin. Such an
// attempt keeps its resources, and is renewed and ended like any other. It is charged, and counts as running, only
// from the moment it begins there.
type Progress struct {
	Ref
	// Began is when the attempt began; zero while it waits there.
	Began time.Time
}
