package rabbitmq

import (
	"testing"
	"time"
)

// SetExamined changes for a test how often the bridge looks whether its queue is still there.
func SetExamined(t testing.TB, d time.Duration) {
	before := examined
	examined = d
	t.Cleanup(func() { examined = before })
}

// SetVanished changes for a test after how long what keeps the session is another bridge.
func SetVanished(t testing.TB, d time.Duration) {
	before := vanished
	vanished = d
	t.Cleanup(func() { vanished = before })
}
