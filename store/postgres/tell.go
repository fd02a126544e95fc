package postgres

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/internal/life"
)

// tellLeased tells the other servers what was leased.
func (t *tx) tellLeased(wants []fairlead.Want, grants []fairlead.Grant) {
	at := map[int64]int{} // the change of a job
	tell := func(l *fairlead.Lease, charge float64) {
		i, known := at[l.JobID]
		if !known {
			i = len(t.changes)
			at[l.JobID] = i
			t.tell(fairlead.Change{What: fairlead.Leased, Job: life.Header(l.Job), State: fairlead.Running})
		}
		t.changes[i].Runs = append(t.changes[i].Runs, fairlead.Run{Ref: l.Ref, Holder: l.Holder, Started: l.Started, Charge: charge})
	}
	for i, g := range grants {
		if g.Lease != nil {
			tell(g.Lease, wants[i].Charge)
		}
		for _, l := range g.Gang {
			tell(l, wants[i].Charge)
		}
	}
}

// tellEnded tells the other servers of an attempt that is over.
func (t *tx) tellEnded(r *row, k *fairlead.Task, ended time.Time, learns bool) {
	run := life.Run(k)
	run.Ended, run.Learns = ended, learns
	t.tell(fairlead.Change{What: fairlead.Ended, Job: life.Header(&r.Job), Runs: []fairlead.Run{run}, State: r.State})
}
