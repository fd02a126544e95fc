package sched

// SetDeficit says what a leaf is owed as of now, in slot-seconds, where its policy counts
// that.
func (s *Scheduler) SetDeficit(leaf PoolID, owed float64) {}
