package brokertest

import (
	"os"
	"slices"
	"testing"
)

// lasting is a test whose directory and clean-up last until End.
type lasting struct {
	testing.TB
	dir      string
	cleanups []func()
}

// TempDir implements testing.TB.
func (l *lasting) TempDir() string { return l.dir }

// Cleanup implements testing.TB.
func (l *lasting) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

// shared is the RabbitMQ of all tests of this process: one takes seconds to start.
var shared struct {
	broker *RabbitMQ
	life   *lasting
}

// SharedRabbitMQ returns the RabbitMQ that the tests of this process share, and starts it for the first of them. A
// test may kill it, and starts it again then. Each test has queues and users of its own. TestMain has to call End.
func SharedRabbitMQ(t testing.TB) *RabbitMQ {
	t.Helper()
	if shared.broker == nil {
		dir, err := os.MkdirTemp("", "fairlead-rabbitmq-")
		if err != nil {
			t.Fatal(err)
		}
		shared.life = &lasting{TB: t, dir: dir}
		shared.broker = NewRabbitMQ(shared.life)
	}
	if !shared.broker.server.Alive() { // a test failed after it had killed it
		shared.broker.Start(t)
	}
	return shared.broker
}

// End ends what the tests shared.
func End() {
	if shared.life == nil {
		return
	}
	for _, f := range slices.Backward(shared.life.cleanups) {
		f()
	}
	os.RemoveAll(shared.life.dir)
}
