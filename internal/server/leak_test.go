package server_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if goroutines are left when all tests have ended: a server that has ended leaves none. Connections
// that clients of the tests keep for the next request do not count.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
