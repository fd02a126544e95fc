package postgres

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
)

// leasing is one call of Lease.
type leasing struct {
	t      *tx
	holder string
	ttl    time.Duration
	held   leases // of arrays and gangs
}

// leases are rows of the table lease, by holder.
type leases map[string]*held

type held struct {
	until time.Time
	jobs  []int64
}

func (l leases) add(k *queue.Task) {
	h := l[k.Holder]
	if h == nil {
		h = &held{until: k.Until}
		l[k.Holder] = h
	}
	h.jobs = append(h.jobs, k.Job)
}

// rest leases tasks of arrays and gangs. For the other jobs it returns their waiting tasks: there are some if other
// servers are claiming them and may still fail.
func (l *leasing) rest(wants []queue.Want, out []queue.Grant, ids []int64) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	l.t.trip.ask(`SELECT `+columns+` FROM unnest($1::bigint[]) AS w (id),
		LATERAL (SELECT * FROM @.job WHERE job.id = w.id AND tasks > 1 FOR UPDATE) AS j, LATERAL (SELECT path FROM @.pool WHERE pool.id = j.pool OFFSET 0) AS p`, l.t.jobs.keep, ids)
	l.t.trip.ask(`SELECT `+columns+` FROM @.job AS j, LATERAL (SELECT path FROM @.pool WHERE pool.id = j.pool OFFSET 0) AS p WHERE j.id = ANY($1) AND tasks = 1`, l.t.jobs.keep, ids)
	if err := l.t.trip.do(); err != nil {
		return err
	}
	for i, w := range wants {
		r := l.t.jobs.all[w.Job]
		if out[i].Lease != nil || r == nil || !life.Eligible(&r.Job) {
			continue
		}
		var err error
		switch {
		case len(w.Nodes) > 0:
			out[i], err = l.gang(r, w)
		case r.Tasks == 1:
			out[i].Waiting, err = l.t.waits(r)
		default:
			out[i], err = l.task(r, w)
		}
		if err != nil {
			return err
		}
	}
	l.note()
	return nil
}

// task leases a task of an array.
func (l *leasing) task(r *row, w queue.Want) (g queue.Grant, err error) {
	k, err := l.next(r)
	if err != nil {
		return g, err
	}
	if k == nil {
		g.Waiting, err = l.t.waits(r)
		return g, err
	}
	life.Lease(k, l.holder, w.Charge, l.t.trip.now, l.t.trip.now.Add(l.ttl))
	life.Start(&r.Job, l.t.trip.now)
	l.t.ledger.count(r.pool, -1, +1)
	l.t.tasks.save(r, k)
	l.t.jobs.save(r)
	l.held.add(k)
	spec := r.Job
	return queue.Grant{Lease: life.NewLease(&spec, k)}, nil
}

// next returns the task of the array that starts next, nil if none may.
func (l *leasing) next(r *row) (*queue.Task, error) {
	if r.Gang > 1 || r.MaxRunning > 0 && r.Running >= r.MaxRunning {
		return nil, nil
	}
	if r.returned > 0 {
		tasks, err := l.t.tasks.read(r, `AND t_state = 2 AND t_begin <= $2`, life.Nanos(l.t.trip.now))
		if err != nil {
			return nil, err
		}
		if len(tasks) > 0 {
			r.returned--
			return tasks[0], nil
		}
	}
	if r.next == r.Tasks || r.Begin.After(l.t.trip.now) {
		return nil, nil
	}
	k := &queue.Task{Job: r.ID, Index: r.next, Number: r.Numbers().At(r.next)}
	r.next++
	return k, nil
}

// gang leases all tasks of a gang, or none.
func (l *leasing) gang(r *row, w queue.Want) (g queue.Grant, err error) {
	var tasks []*queue.Task
	if r.Tasks > 1 {
		if tasks, err = l.t.tasks.read(r, ""); err != nil {
			return g, err
		}
	}
	if !life.Due(&r.Job, w, tasks, l.t.trip.now) {
		g.Waiting, err = l.t.waits(r)
		return g, err
	}
	tasks, g.Gang = life.LeaseGang(&r.Job, w, tasks, l.t.trip.now, l.t.trip.now.Add(l.ttl))
	for _, k := range tasks {
		l.t.tasks.save(r, k)
		l.held.add(k)
	}
	r.returned, r.next = 0, r.Tasks
	l.t.ledger.count(r.pool, -r.Gang, +r.Gang)
	l.t.jobs.save(r)
	return g, nil
}

// note records when to check the leases of tasks of arrays and gangs.
func (l *leasing) note() {
	for holder, h := range l.held {
		l.t.trip.queue(`INSERT INTO @.lease (until, holder, jobs) VALUES ($1, $2, $3)`, life.Nanos(h.until), holder, h.jobs)
	}
}
