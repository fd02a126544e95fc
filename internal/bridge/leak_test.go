package bridge_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if goroutines are left when all tests have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
