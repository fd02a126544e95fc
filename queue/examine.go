package queue

import (
	"context"
	"time"
)

// Examiner is a store that can say how it is kept.
type Examiner interface {
	Examine(ctx context.Context) (StoreHealth, error)
}

// StoreHealth is how a store is kept, for whoever looks after it.
type StoreHealth struct {
	Format, Known int           // of the tables: as they are, and as this program writes them
	Bytes         int64         // that it takes on disk
	Unused        float64       // fraction of it that holds nothing any more
	Log           int64         // bytes that were written ahead and are not in their place yet
	Oldest        time.Duration // for how long the oldest transaction has been open: nothing that ended since can be cleared away
	Sessions      int           // of the database that are in use
	MaxSessions   int           // that it lets in; 0 is no bound
	Feed          int64         // changes that are kept for those who follow
	Reserve       bool          // there is room put aside for when the disk is full, or none is needed
}
