package sched

import "time"

// Reclaim says which tasks are stopped for pools that do not get what they should have;
// the pools say when, see [share.Reclaim].
type Reclaim struct {
	Grace  time.Duration // no job is stopped twice within this time
	Choose Choose
}

// Choose says which tasks are stopped first.
type Choose uint8

const (
	// Newest stops the tasks that began last.
	Newest Choose = iota
	// Cheapest stops the tasks with which the fewest slot-seconds are lost.
	Cheapest
)

func (c Choose) String() string { return [...]string{"newest", "cheapest"}[c] }
