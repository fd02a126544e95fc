package postgres_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/pgtest"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/linear"
	"github.com/fairlead/fairlead/store/postgres"
)

// TestLinearizable lets clients of several stores on one schema contend for leases.
func TestLinearizable(t *testing.T) {
	pgtest.URL(t) // skips the test without PostgreSQL; a skip inside a history would not end it
	linear.Run(t, func(t testing.TB) []queue.Store {
		url, schema := pgtest.URL(t)
		stores := make([]queue.Store, 4)
		for i := range stores {
			stores[i] = at(t, url+inVirtualTime+"&pool_max_conns=4", postgres.Options{Schema: schema, Now: time.Now})
		}
		return stores
	}, 3, 2)
}
