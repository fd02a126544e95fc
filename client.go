package fairlead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

const week = 7 * 24 * time.Hour

// Client submits jobs and asks about them. It fills in what a job leaves open by the
// shares in force.
type Client struct {
	store  Store
	shares atomic.Pointer[Shares]
}

// NewClient returns a client of the store. A [Loop] has one of its own.
func NewClient(store Store, shares Shares) *Client {
	c := &Client{store: store}
	c.shares.Store(&shares)
	return c
}

// Submit adds jobs and returns their ids when they are on disk. A job may depend on
// an earlier or later job of the same call: After with the number -1 is the first
// one, -2 the second. The error joins what was wrong with each job; the ids of the
// others are returned nevertheless, and 0 for those that were refused.
func (c *Client) Submit(ctx context.Context, jobs ...Job) ([]int64, error) {
	subs, err := c.SubmitAll(ctx, jobs)
	return idsOf(subs, len(jobs), err)
}

// idsOf are the ids of submitted jobs, and what was wrong with the others.
func idsOf(subs []Submission, n int, err error) ([]int64, error) {
	ids := make([]int64, n)
	var errs []error
	for i, s := range subs {
		ids[i] = s.ID
		if s.Err != nil && n > 1 {
			errs = append(errs, fmt.Errorf("job %d: %w", i+1, s.Err))
		} else if s.Err != nil {
			errs = append(errs, s.Err)
		}
	}
	return ids, errors.Join(append(errs, err)...)
}

// SubmitAll is Submit with a report on each job.
func (c *Client) SubmitAll(ctx context.Context, jobs []Job) ([]Submission, error) {
	return c.submitAll(ctx, jobs, func(*Job) error { return nil })
}

// submitAll refuses those, too, for which the check returns an error.
func (c *Client) submitAll(ctx context.Context, jobs []Job, check func(*Job) error) ([]Submission, error) {
	return c.submitBy(ctx, jobs, check, c.store.Submit)
}

// submitBy hands the jobs that are as they should be to a function, which adds them.
func (c *Client) submitBy(ctx context.Context, jobs []Job, check func(*Job) error, add adder) ([]Submission, error) {
	shares := c.shares.Load()
	out := make([]Submission, len(jobs))
	own := make([]Job, len(jobs))
	for i := range jobs {
		own[i] = jobs[i]
		if out[i].Err = own[i].Check(); out[i].Err == nil {
			out[i].Err = cmp.Or(shares.settle(&own[i]), check(&own[i]))
		}
	}
	rounds, err := inRounds(own, out)
	if err != nil {
		return nil, err
	}
	for _, round := range rounds {
		if err := submitRound(ctx, own, out, round, add); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// submitRound submits the jobs with the given indices; those that they depend on
// within the call have been submitted before.
func submitRound(ctx context.Context, jobs []Job, out []Submission, round []int, add adder) error {
	var batch []*Job
	var at []int
	for _, i := range round {
		j := &jobs[i]
		if out[i].Err != nil {
			continue
		}
		for k, d := range j.After {
			if d.Job < 0 {
				on := out[-d.Job-1]
				if on.Err != nil {
					out[i].Err = invalid("after", "job %d of this submission was refused", -d.Job)
				}
				j.After[k].Job = on.ID
			}
		}
		if out[i].Err == nil {
			batch, at = append(batch, j), append(at, i)
		}
	}
	if len(batch) == 0 {
		return nil
	}
	subs, err := add(ctx, batch)
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	for k, s := range subs {
		out[at[k]] = s
	}
	return nil
}

// inRounds orders the jobs of one call so that each comes after those it depends on.
// Nearly always that is one round.
func inRounds(jobs []Job, out []Submission) ([][]int, error) {
	placed := make([]bool, len(jobs))
	var rounds [][]int
	for left := len(jobs); left > 0; {
		var round []int
		for i := range jobs {
			if !placed[i] && ready(jobs, i, placed, out) {
				round = append(round, i)
			}
		}
		if len(round) == 0 {
			return nil, invalid("after", "the dependencies of jobs %v of this submission are circular", unplaced(placed))
		}
		for _, i := range round {
			placed[i] = true
		}
		rounds, left = append(rounds, round), left-len(round)
	}
	return rounds, nil
}

// ready reports whether all jobs of the call that job i depends on are placed. A
// number that is not there is the job's own fault.
func ready(jobs []Job, i int, placed []bool, out []Submission) bool {
	for _, d := range jobs[i].After {
		switch on := int(-d.Job - 1); {
		case d.Job > 0:
		case on < 0 || on >= len(jobs):
			out[i].Err = invalid("after", "there is no job %d in this submission", -d.Job)
		case !placed[on]:
			return false
		}
	}
	return true
}

func unplaced(placed []bool) []int {
	var numbers []int
	for i, p := range placed {
		if !p {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// Job returns a job.
func (c *Client) Job(ctx context.Context, id int64) (*Job, error) {
	jobs, err := c.store.Jobs(ctx, Query{IDs: []int64{id}})
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("job %d: %w", id, ErrNotFound)
	}
	return jobs[0], nil
}

// Jobs returns the jobs that match.
func (c *Client) Jobs(ctx context.Context, q Query) ([]*Job, error) { return c.store.Jobs(ctx, q) }

// Tasks returns the tasks of a job that have started.
func (c *Client) Tasks(ctx context.Context, id int64) ([]Task, error) { return c.store.Tasks(ctx, id) }

// Alter changes jobs and reports on each.
func (c *Client) Alter(ctx context.Context, changes ...Alteration) ([]error, error) {
	shares := c.shares.Load()
	for _, a := range changes {
		if a.Verb == VerbPrioritise {
			if err := shares.checkRaise(a); err != nil {
				return nil, err
			}
		}
	}
	if slices.ContainsFunc(changes, func(a Alteration) bool { return a.Verb == VerbMove }) {
		return c.move(ctx, shares, changes)
	}
	return c.store.Alter(ctx, changes)
}

// Cancel cancels a job: what waits never starts, what runs is stopped.
func (c *Client) Cancel(ctx context.Context, id int64) error {
	errs, err := c.Alter(ctx, Alteration{Job: id, Verb: VerbCancel})
	if err != nil {
		return err
	}
	return errs[0]
}
