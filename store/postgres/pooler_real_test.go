//go:build real

package postgres_test

import (
	"testing"

	"github.com/fairlead/fairlead/store/storetest"
)

// TestRealStoreBehindPooler runs the whole contract of a store, behind PgBouncer.
func TestRealStoreBehindPooler(t *testing.T) { storetest.Run(t, openPooled) }
