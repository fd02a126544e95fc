package queue

import (
	"context"
	"time"
)

// Examiner is a store that reports its health.
type Examiner interface {
	Examine(ctx context.Context) (StoreHealth, error)
}

// StoreHealth is the condition of a store, for its administrator.
type StoreHealth struct {
	Format, Known int           // format of the tables: the present one, and the one that this program writes
	Bytes         int64         // size on disk
	Unused        float64       // unused fraction of it
	Log           int64         // bytes in the write-ahead log that are not in the tables yet
	Oldest        time.Duration // age of the oldest open transaction: nothing deleted since can be cleaned up
	Sessions      int           // database sessions in use
	MaxSessions   int           // sessions that the database allows; 0 is no bound
	Feed          int64         // changes kept in the change feed for its readers
	Reserve       bool          // disk space is set aside for a full disk, or none is needed
}
