package main

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/settings"
	"github.com/fairlead/fairlead/store/postgres"
	"github.com/fairlead/fairlead/store/sqlite"
)

// jobStore is what a server needs of its store.
type jobStore interface {
	fairlead.Store
	settings.Store
	// Forget removes what ended before an instant.
	Forget(ctx context.Context, before time.Time) (int, error)
}

// isURL reports whether jobs are kept in a database server, not in a file.
func isURL(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// openStore opens the database of a server, and says in the options where it is.
func openStore(ctx context.Context, o instanceOptions) (jobStore, instanceOptions, error) {
	unit := o.config.Shares.Sched.Unit
	if !isURL(o.database) {
		s, err := sqlite.Open(ctx, o.database, sqlite.Options{Unit: unit, Grace: o.lease})
		if err != nil {
			return nil, o, err
		}
		return s, o, nil
	}
	s, err := postgres.Open(ctx, o.database, postgres.Options{Unit: unit, Grace: o.lease, Logger: o.log})
	if err != nil {
		return nil, o, err
	}
	o.storeName, o.database = s.Place(), ""
	return s, o, nil
}
