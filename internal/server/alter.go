package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
)

// Alter changes the jobs that the actor may change, and returns a result for each.
func (s *jobService) Alter(ctx context.Context, r api.AlterRequest) (*api.AlterResponse, error) {
	me := who(ctx)
	if err := checkWords("reason", r.Cause); err != nil {
		return nil, err
	}
	if r.Nice != nil {
		if err := checkNice(ctx, s.loop, *r.Nice); err != nil {
			return nil, err
		}
	}
	client := s.loop.Client()
	jobs, err := client.Jobs(ctx, queue.Query{IDs: r.Jobs})
	if err != nil {
		return nil, err
	}
	known := map[int64]*queue.Job{}
	for _, j := range jobs {
		known[j.ID] = j
	}
	out := api.AlterResponse{Version: api.Version, Results: make([]*api.Error, len(r.Jobs))}
	changes, at := s.permitted(ctx, r, known, out.Results)
	dependents, err := s.dependents(ctx, changes)
	if err != nil {
		return nil, err
	}
	change := client.Alter
	if !me.Admin {
		change = func(ctx context.Context, changes ...queue.Alteration) ([]error, error) {
			return s.loop.Intake.AlterLimited(ctx, &me, changes...)
		}
	}
	errs, err := change(ctx, changes...)
	if err != nil {
		return nil, err
	}
	if note := cancelledToo(changes, errs, dependents); note != "" {
		out.Notes = append(out.Notes, note)
	}
	for i, id := range r.Jobs {
		if k, is := at[id]; is {
			out.Results[i] = api.FromError(errs[k])
		}
	}
	for k, err := range errs {
		if j := known[changes[k].Job]; err == nil && j.Queued > 0 {
			out.Notes = append(out.Notes, beyond(&changes[k], j.Queued)...)
		}
	}
	return &out, nil
}

// permitted returns the changes that the actor may make, and the index of the change of each job: a job that is named
// twice is changed once. It writes the errors of the others to results.
func (s *jobService) permitted(
	ctx context.Context, r api.AlterRequest, known map[int64]*queue.Job, results []*api.Error,
) (changes []queue.Alteration, at map[int64]int) {
	me := who(ctx)
	pool := s.loop.Intake.PoolFor(ctx, r.Pool)
	at = map[int64]int{}
	for i, id := range r.Jobs {
		if _, twice := at[id]; twice {
			continue
		}
		j := known[id]
		if j == nil {
			results[i] = api.FromError(queue.NoJob(id))
			continue
		}
		err := check(ctx, s.loop, alters(r.Verb), access.Object{Owner: j.User, Pool: j.Pool})
		if err == nil && queue.Verb(r.Verb) == queue.VerbRequeue { // because it starts work
			err = me.CheckScope(access.Submit)
		}
		if err != nil {
			results[i] = api.FromError(fmt.Errorf("job %d: %w", id, err))
			continue
		}
		at[id] = len(changes)
		changes = append(changes, queue.Alteration{
			Job: id, Verb: queue.Verb(r.Verb), Priority: r.Priority, QOS: r.QOS, Nice: r.Nice, Pool: pool,
			Limit: limitOf(r.Limit),
			Cause: r.Cause, Waiting: r.Waiting, By: me.Name, Admin: me.Admin, Within: operated(&me, s.loop),
		})
	}
	return changes, at
}

// limitOf returns a time limit in seconds as a duration, or as one that is refused if no duration is so long.
func limitOf(seconds float64) time.Duration {
	if most := queue.MaxLimit + time.Second; !(seconds < most.Seconds()) {
		return most
	}
	return time.Duration(seconds * float64(time.Second))
}

// operated returns the pools that a principal operates, for the store.
func operated(p *access.Principal, loop *engine.Loop) string {
	return strings.Join(loop.Client().Shares.Load().Access.Operated(p), " ")
}

// alters returns the verb whose right permits a change of a job.
func alters(verb string) access.Verb {
	if queue.Verb(verb) == queue.VerbMove {
		return access.Move
	}
	return access.Alter
}

// beyond says what a hold, or a cancel of waiting tasks, does not affect: tasks that a bridge has handed over wait in
// the other system.
func beyond(a *queue.Alteration, tasks int) (notes []string) {
	stays := fmt.Sprintf("job %d already waits in another queueing system, with %d of its tasks, and continues there; ",
		a.Job, tasks)
	switch {
	case a.Verb == queue.VerbHold:
		notes = append(notes, fmt.Sprintf("%sto take it back, so that the hold applies: fairlead requeue %d", stays, a.Job))
	case a.Waiting:
		notes = append(notes, fmt.Sprintf("%sto cancel these, too: fairlead cancel %d", stays, a.Job))
	}
	return notes
}
