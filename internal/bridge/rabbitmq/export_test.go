package rabbitmq

import (
	"testing"
	"time"
)

// SetExamined changes for a test how often the bridge checks whether its queue still exists.
func SetExamined(t testing.TB, d time.Duration) {
	before := examined
	examined = d
	t.Cleanup(func() { examined = before })
}

// SetVanished changes, for a test, the time after which the holder of the session counts as another bridge.
func SetVanished(t testing.TB, d time.Duration) {
	before := vanished
	vanished = d
	t.Cleanup(func() { vanished = before })
}
