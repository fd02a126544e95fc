// Package await lets a test wait until another goroutine, process or server has done its part. It checks a
// condition again and again. Only a hang reaches the limit, so a busy machine makes a test slow, but does not
// make it fail.
package await

import (
	"testing"
	"time"
)

// Patience is the time after which Until and True give up.
const Patience = 3 * time.Minute

// The pauses between two checks: short at first, because most conditions come true soon.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// Until calls the function "look" until its second result is true. If that never happens, the test fails and prints the
// first result of the last call.
func Until(t testing.TB, what string, look func() (seen any, done bool)) {
	t.Helper()
	var seen any
	if !Within(Patience, func() (done bool) { seen, done = look(); return done }) {
		t.Fatalf("waited %v in vain until %s; seen last:\n%+v", Patience, what, seen)
	}
}

// True is Until for a condition without a value to print.
func True(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !Within(Patience, condition) {
		t.Fatalf("waited %v in vain until %s", Patience, what)
	}
}

// Within checks a condition until it is true, but no longer than patience, and reports whether it came true.
func Within(patience time.Duration, condition func() bool) bool {
	pause := firstPause
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pause) {
		if condition() {
			return true
		}
		pause = min(2*pause, lastPause)
	}
	return condition()
}
