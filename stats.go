package fairlead

// Stats counts the attempts of the handlers of a process since [New].
type Stats struct {
	// Succeeded, Failed, Snoozed and Stopped count attempts by how they ended. A failed attempt may be tried again. A
	// stopped attempt was canceled, requeued, or lost its lease.
	Succeeded, Failed, Snoozed, Stopped int64
}

// Stats returns the counts of the handlers of this process since [New]. [App.Shares] reports on the whole queue.
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
