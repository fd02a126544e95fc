package queue

import "context"

// Client submits, queries and changes jobs: the client in the root package does so in the store of this process, the
// one in package remote at a server. Both pass the same test suite, so a program that takes a Client can switch from
// one to the other.
type Client interface {
	// Submit adds jobs and returns their ids when they are durable. The error names the jobs that were not added as
	// "job 2: ...", counted from 1; their id is 0.
	Submit(ctx context.Context, jobs ...Job) ([]int64, error)
	// SubmitAll is Submit with a result for each job.
	SubmitAll(ctx context.Context, jobs []Job) ([]Submission, error)
	// Job returns a job, or [ErrNotFound] if there is none.
	Job(ctx context.Context, id int64) (*Job, error)
	// Jobs returns the jobs that match, by id. A server leaves out the data and the environment of listed jobs; Job
	// returns these.
	Jobs(ctx context.Context, q Query) ([]*Job, error)
	// Tasks returns the tasks of a job that have started.
	Tasks(ctx context.Context, id int64) ([]Task, error)
	// Alter changes jobs, in order, and returns one error for each change.
	Alter(ctx context.Context, changes ...Alteration) ([]error, error)
	// Cancel cancels a job: waiting tasks never start, running tasks are stopped.
	Cancel(ctx context.Context, id int64) error
}
