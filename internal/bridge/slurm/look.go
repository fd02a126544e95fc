package slurm

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
)

const (
	// settle is how long Look waits for the accounting of a job that has ended.
	settle = 15 * time.Second
	// margin allows for clocks that differ, and for times in whole seconds.
	margin = 10 * time.Second
)

// Look asks slurmctld about all entries at once, and slurmdbd about entries that have ended or that slurmctld
// does not have any more.
func (q *QS) Look(ctx context.Context, all []bridge.Entry) ([]bridge.Status, error) {
	statuses := make([]bridge.Status, len(all))
	if len(all) == 0 {
		return statuses, nil
	}
	now := time.Now()
	queued, err := q.door.queue(ctx, markers(all))
	if err != nil {
		return nil, err
	}
	q.compare(queued)
	live, twins := first(queued)
	if len(twins) > 0 {
		q.log.Warn(
			"a submission arrived that had counted as lost; of two jobs with the same marker, the later one is canceled",
			"jobs", twins)
		if err := q.door.cancel(ctx, twins); err != nil {
			return nil, err
		}
	}
	var ended []bridge.Entry
	for _, e := range all {
		if r := live[e.Marker]; r == nil || r.over() {
			if r != nil {
				e.ID = r.id
			}
			ended = append(ended, e)
		}
	}
	kept, account := q.accounts(ctx, ended, live)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i, e := range all {
		statuses[i] = q.judge(ctx, e, live[e.Marker], kept[e.Marker], account, now)
	}
	return statuses, nil
}

// accounts returns the records of slurmdbd about entries. If it returns an error, the QS still works:
// slurmctld answers, and the bridge can follow running entries.
func (q *QS) accounts(ctx context.Context, all []bridge.Entry, live map[string]*record) (map[string]*record, error) {
	if len(all) == 0 {
		return nil, nil
	}
	var ids, names []string
	since := all[0].Submitted
	for _, e := range all {
		if e.ID != "" {
			ids = append(ids, e.ID)
		}
		if e.Submitted.Before(since) {
			since = e.Submitted
		}
	}
	since = since.Add(-time.Hour) // the clocks may differ
	var records []record
	for chunk := range slices.Chunk(ids, maxNames) {
		found, err := q.door.accounting(ctx, chunk, nil, since)
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	rename(records, live)
	// slurmdbd finds numbers faster than names, but Slurm may have given a number to another job meanwhile.
	known := latest(records)
	for _, e := range all {
		if known[e.Marker] == nil {
			names = append(names, e.Marker)
		}
	}
	for chunk := range slices.Chunk(names, maxNames) {
		found, err := q.door.accounting(ctx, nil, chunk, since)
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	return latest(records), nil
}

// rename gives records the names that slurmctld knows: slurmdbd learns the name of a job some seconds after
// its end.
func rename(records []record, live map[string]*record) {
	byID := map[string]*record{}
	for _, l := range live {
		byID[l.id] = l
	}
	for i := range records {
		if l := byID[records[i].id]; l != nil && l.submitted.Equal(records[i].submitted) {
			records[i].name = l.name
		}
	}
}

// judge combines the answers of slurmctld and slurmdbd about an entry.
func (q *QS) judge(ctx context.Context, e bridge.Entry, live, kept *record, account error,
	now time.Time) bridge.Status {
	switch {
	case live != nil && !live.over():
		return live.status()
	case live != nil && kept != nil && kept.over() && kept.id == live.id && !kept.ended.Before(live.began):
		both := *kept
		both.code, both.signal = live.code, live.signal // slurmrestd 22.05 gives code 0 for every exit
		return both.status()
	case live != nil && account == nil && now.Sub(live.ended) < settle:
		s := live.status()
		return bridge.Status{Phase: bridge.Running, ID: live.id, Began: s.Began, Says: s.Says + ", its accounting follows"}
	case live != nil:
		return live.status()
	case kept != nil && kept.over():
		return kept.status()
	}
	return q.missing(ctx, e, kept, account, now)
}

// missing returns the status of an entry that slurmctld does not know, and whose end slurmdbd does not know.
// The entry is absent if no message under way can make it appear later.
func (q *QS) missing(ctx context.Context, e bridge.Entry, kept *record, account error, now time.Time) bridge.Status {
	unsure := func(says string) bridge.Status { return bridge.Status{Phase: bridge.Unsure, ID: e.ID, Says: says} }
	c, err := q.configuration(ctx)
	if err != nil {
		return unsure("slurmctld does not report its configuration: " + err.Error())
	}
	age := now.Sub(e.Submitted)
	if age < 2*c.duration("MessageTimeout", 10*time.Second) {
		return unsure("it may be on its way to Slurm")
	}
	// slurmctld keeps a job for MinJobAge after its end, so it would still know this job.
	if keeps := c.duration("MinJobAge", -1); keeps == 0 || age < keeps-margin {
		return bridge.Status{Phase: bridge.Absent}
	}
	if account != nil {
		return unsure("slurmctld does not know it any more, and the accounting does not answer: " + account.Error())
	}
	if n, err := q.door.backlog(ctx); err != nil || n > 0 {
		return unsure("slurmctld has not sent everything to slurmdbd yet")
	}
	// If slurmdbd shows it as running, slurmctld has lost it and killed its processes.
	return bridge.Status{Phase: bridge.Absent}
}

// first returns the record of slurmctld for each name, and the numbers of waiting jobs with the same name.
// There are several jobs of a name if a submission that seemed lost arrived after all. A job that has left
// the queue counts before a job that waits; otherwise the smaller number counts.
func first(queued []record) (all map[string]*record, twins []string) {
	all = map[string]*record{}
	waits := func(r *record) bool { return r.phase() == bridge.Pending }
	for i := range queued {
		r, other := &queued[i], all[queued[i].name]
		if other == nil {
			all[r.name] = r
			continue
		}
		if waits(other) && !waits(r) || waits(other) == waits(r) && ordinal(r.id) < ordinal(other.id) {
			all[r.name], r, other = r, other, r
		}
		if waits(r) {
			twins = append(twins, r.id)
		}
	}
	return all, twins
}

// ordinal returns the number of a job.
func ordinal(id string) uint64 {
	n, _ := strconv.ParseUint(id, 10, 64)
	return n
}

// latest returns the newest record of each name: a job that was requeued has several.
func latest(all []record) map[string]*record {
	newest := map[string]*record{}
	for i := range all {
		r := &all[i]
		if old := newest[r.name]; old == nil ||
			!r.submitted.Before(old.submitted) && (r.submitted.After(old.submitted) || !r.began.Before(old.began)) {
			newest[r.name] = r
		}
	}
	return newest
}

func markers(all []bridge.Entry) []string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Marker
	}
	return names
}

// Cancel ends entries. It looks for them by their markers, because Slurm may have given a number to another
// job.
func (q *QS) Cancel(ctx context.Context, all []bridge.Entry) error {
	if len(all) == 0 {
		return nil
	}
	wanted := markers(all)
	queued, err := q.door.queue(ctx, wanted)
	if err != nil {
		return err
	}
	slices.Sort(wanted)
	var ids []string
	for i := range queued {
		if _, ours := slices.BinarySearchFunc(wanted, queued[i].name, strings.Compare); ours && !queued[i].over() {
			ids = append(ids, queued[i].id)
		}
	}
	for chunk := range slices.Chunk(ids, maxNames) {
		if err := q.door.cancel(ctx, chunk); err != nil {
			return err
		}
	}
	return nil
}
