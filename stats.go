package fairlead

// Stats counts what the handlers of a process did since [New].
type Stats struct {
	// Succeeded, Failed, Snoozed and Stopped count attempts by how they ended. One that failed may be tried again. One
	// that was stopped was cancelled, requeued, or lost its lease.
	Succeeded, Failed, Snoozed, Stopped int64
}

// Stats returns what the handlers of this process did since [New]. [App.Shares] tells of the whole queue.
func (a *App) Stats() Stats {
	c := &a.counters
	return Stats{c.succeeded.Load(), c.failed.Load(), c.snoozed.Load(), c.stopped.Load()}
}

// count counts the end of an attempt.
func (a *App) count(_ *Lease, o Outcome) {
	c := &a.counters
	switch {
	case o.State == Succeeded:
		c.succeeded.Add(1)
	case o.State == Failed:
		c.failed.Add(1)
	case o.Next != nil:
		c.snoozed.Add(1)
	default:
		c.stopped.Add(1)
	}
}
