package fairlead

import "context"

// Tx is a transaction of your program's own, in the database in which a store keeps its jobs.
// Package store/postgres makes one of a pgx.Tx or a *sql.Tx.
type Tx interface {
	// Submit is [Store.Submit] as part of the transaction: the jobs are there from its commit
	// on, if that comes.
	Submit(ctx context.Context, store Store, jobs []*Job) ([]Submission, error)
}

// adder adds jobs that were checked, as [Store.Submit] does.
type adder func(ctx context.Context, jobs []*Job) ([]Submission, error)

// SubmitTx is [Client.Submit] as part of a transaction of your own, in the same database as the
// jobs: they exist exactly if it commits, together with what else it writes. Until then nobody
// sees them, and nothing that others do waits for it, but the submission of a job with the same
// Key. After an error that is not about one of the jobs the transaction is to be rolled back, and
// may be tried again.
func (c *Client) SubmitTx(ctx context.Context, tx Tx, jobs ...Job) ([]int64, error) {
	subs, err := c.submitBy(ctx, jobs, func(*Job) error { return nil }, func(ctx context.Context, jobs []*Job) ([]Submission, error) {
		return tx.Submit(ctx, c.store, jobs)
	})
	return idsOf(subs, len(jobs), err)
}
