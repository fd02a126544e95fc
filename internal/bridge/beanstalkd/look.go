package beanstalkd

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
)

// Look implements bridge.QS.
func (q *Queue) Look(ctx context.Context, all []bridge.Entry) ([]bridge.Status, error) {
	l, err := q.ask(ctx)
	if err != nil {
		return nil, err
	}
	defer l.within(ctx)()
	out := make([]bridge.Status, len(all))
	all, err = q.named(ctx, l, all)
	busy := errors.Is(err, errBusy)
	if err != nil && !busy {
		return nil, err
	}
	err = parallel(len(all), func(i int) (err error) {
		if q.reports.End(all[i].Marker) == nil && all[i].ID != "" {
			out[i], err = q.state(l, all[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	gone := false
	for i := range out {
		gone = gone || out[i].Phase == bridge.Unsure
	}
	if gone { // read the reports after looking for the jobs
		if err := q.drain(ctx, l); err != nil {
			return nil, err
		}
	}
	for i, e := range all {
		if end := q.reports.End(e.Marker); end != nil {
			id := cmp.Or(end.ID, e.ID)
			out[i] = end.Status()
			out[i].ID = id
		} else if out[i].Phase == bridge.Unsure && (e.ID != "" || !busy) {
			out[i] = bridge.Status{Phase: bridge.Absent, Says: "there is no such job"}
		} else if out[i].Phase == bridge.Unsure {
			out[i].Says = errBusy.Error()
		}
	}
	return out, nil
}

// state asks for a job; its phase is Unsure if the job does not exist.
func (q *Queue) state(l *link, e bridge.Entry) (bridge.Status, error) {
	id, err := number(e.ID)
	if err != nil {
		return bridge.Status{}, err
	}
	if marker, err := q.identity(l, id); err != nil || marker != e.Marker {
		return bridge.Status{}, err
	}
	stats, err := l.StatsJob(id)
	if errors.Is(err, beanstalk.ErrNotFound) || err == nil && stats["tube"] != q.options.Tube {
		return bridge.Status{}, nil
	}
	if l.check(err) != nil {
		return bridge.Status{}, fmt.Errorf("state of job %d: %w", id, err)
	}
	s := bridge.Status{Phase: bridge.Pending, ID: e.ID, Says: fmt.Sprintf("%s, priority %s", stats["state"], stats["pri"])}
	switch stats["state"] {
	case "reserved":
		s.Phase = bridge.Running
		if started := q.reports.Started(e.Marker); started != nil {
			s.Began = started.Began
			s.Says = "reserved by " + started.Worker
		}
	case "buried":
		s.Says = "buried: no worker gets it until it is kicked"
	}
	return s, nil
}
