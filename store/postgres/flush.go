package postgres

import (
	"slices"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// flush queues statements that write the changes in memory.
func (t *tx) flush() error {
	if err := t.tasks.write(); err != nil {
		return err
	}
	if err := t.jobs.write(); err != nil {
		return err
	}
	t.flushEvents()
	t.ledger.flushDeltas()
	t.ledger.flushDays()
	if len(t.changes) == 0 && !t.hint {
		return nil
	}
	text, err := encode(t.changes)
	t.trip.queue(`INSERT INTO @.feed (changes, origin) VALUES ($1, $2)`, text, t.origin)
	return err
}

func (t *tx) flushEvents() {
	if len(t.events) == 0 {
		return
	}
	var jobs, at []int64
	var task []int32
	var code, text []string
	for _, e := range t.events {
		jobs, at, task = append(jobs, e.Job), append(at, life.Nanos(e.At)), append(task, int32(e.Task))
		code, text = append(code, e.Code), append(text, e.Text)
	}
	t.events = nil
	t.trip.queue(`INSERT INTO @.event (job, task, at, code, text) SELECT * FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[], $5::text[])`,
		jobs, task, at, code, text)
}

// forget releases the amounts that ended tasks held, in the order of their keys.
func (t *tx) forget(refs []queue.Ref) {
	if len(refs) == 0 {
		return
	}
	refs = slices.SortedFunc(slices.Values(refs), byTask)
	var jobs []int64
	var tasks []int32
	for _, r := range refs {
		jobs, tasks = append(jobs, r.JobID), append(tasks, int32(r.Task))
	}
	t.trip.queue(`DELETE FROM @.holding AS r USING unnest($1::bigint[], $2::int[]) AS v (job, task) WHERE r.job = v.job AND r.task = v.task AND r.job = ANY($1)`, jobs, tasks)
}
