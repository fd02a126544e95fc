package queue

import "context"

// Tx is a transaction of your own program, in the database where a store keeps its jobs. Package store/postgres makes
// one of a pgx.Tx or a *sql.Tx.
type Tx interface {
	// Submit is [Store.Submit] as part of the transaction: the jobs exist once it commits.
	Submit(ctx context.Context, store Store, jobs []*Job) ([]Submission, error)
}
