package queue

import "context"

// Tx is a transaction of your program's own, in the database in which a store keeps its jobs.
// Package store/postgres makes one of a pgx.Tx or a *sql.Tx.
type Tx interface {
	// Submit is [Store.Submit] as part of the transaction: the jobs are there from its commit
	// on, if that comes.
	Submit(ctx context.Context, store Store, jobs []*Job) ([]Submission, error)
}
