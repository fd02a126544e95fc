package postgres

import (
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// refuse ends an attempt that its machine could not begin. If the waiting tasks must now avoid that node, it reports
// them to the feed again.
func (t *tx) refuse(r *row, k *queue.Task, o queue.Outcome) (v queue.Verdict, err error) {
	t.ledger.count(r.pool, 0, -1)
	t.reportEnded(r, k, time.Time{}, false)
	parting, before := life.Part(&r.Job, k, life.HowRefused), r.Avoid
	again := life.Refuse(&r.Job, k, o, t.trip.now)
	t.note(life.RefusedEvent(k, o, again, t.trip.now))
	kept := life.Kept(before, r.Avoid)
	r.respec = r.respec || kept
	if err := t.returnTask(r, k, again, parting); err != nil {
		return v, err
	}
	v = queue.Verdict{State: r.State, Again: again}
	if !kept || r.Gang > 1 {
		return v, nil
	}
	why := "kept from " + k.Holder
	t.withdrawn(r, why)
	return v, t.waited(r, why)
}
