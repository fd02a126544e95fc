package views_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if goroutines are left when all tests have ended: a loop whose Run has returned leaves none.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
