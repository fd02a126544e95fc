package rabbitmq

import (
	"testing"
	"time"
)

// SetVanished changes for a test after how long what keeps the session is another bridge.
func SetVanished(t testing.TB, d time.Duration) {
	before := vanished
	vanished = d
	t.Cleanup(func() { vanished = before })
}
