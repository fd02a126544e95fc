package views_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if goroutines are left when all tests have ended: of a loop whose Run has returned, nothing goes on.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
