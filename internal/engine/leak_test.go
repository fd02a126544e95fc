package engine_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if goroutines are left when all tests have ended: once the Run of a loop or a worker has returned,
// none of its goroutines may continue.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
