package queue

import "context"

// Client submits jobs, asks about them and changes them: that of the root package does so in the store
// of this process, that of package remote at a server. Both pass one suite, so that a program that asks
// for a Client can change over from the one to the other.
type Client interface {
	// Submit adds jobs and returns their ids when they are durable. The error names jobs that were not
	// added, from 1, as "job 2: ..."; their id is 0.
	Submit(ctx context.Context, jobs ...Job) ([]int64, error)
	// SubmitAll is Submit with a report on each job.
	SubmitAll(ctx context.Context, jobs []Job) ([]Submission, error)
	// Job returns a job; the error is [ErrNotFound] if there is none.
	Job(ctx context.Context, id int64) (*Job, error)
	// Jobs returns the jobs that match, by id. A server leaves out the data and the environment of
	// jobs in lists: ask for these with Job.
	Jobs(ctx context.Context, q Query) ([]*Job, error)
	// Tasks returns the tasks of a job that have started.
	Tasks(ctx context.Context, id int64) ([]Task, error)
	// Alter changes jobs, in order, and reports on each.
	Alter(ctx context.Context, changes ...Alteration) ([]error, error)
	// Cancel cancels a job: waiting tasks never start, running tasks are stopped.
	Cancel(ctx context.Context, id int64) error
}
