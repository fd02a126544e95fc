package brokertest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fairlead/fairlead/internal/tempdir"
)

// lasting is a test whose directory and cleanups last until End.
type lasting struct {
	testing.TB
	dir      string
	cleanups []func()
}

// TempDir implements testing.TB.
func (l *lasting) TempDir() string { return l.dir }

// Cleanup implements testing.TB.
func (l *lasting) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

// shared is the RabbitMQ of all tests of this process, because starting one takes seconds.
var shared struct {
	broker *RabbitMQ
	life   *lasting
}

// SharedRabbitMQ returns the RabbitMQ that the tests of this process share, and starts it for the first of
// them. A test that kills it must start it again. Each test must use its own queues and users. TestMain must
// call End.
func SharedRabbitMQ(t testing.TB) *RabbitMQ {
	t.Helper()
	if shared.broker == nil {
		above, remove, err := tempdir.New("", "fairlead-rabbitmq-")
		if err != nil {
			t.Fatal(err)
		}
		shared.life = &lasting{TB: t, dir: filepath.Join(above, "files"), cleanups: []func(){remove}}
		if err := os.Mkdir(shared.life.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		shared.broker = NewRabbitMQ(shared.life)
	}
	if !shared.broker.server.Alive() { // a test that had killed it failed
		shared.broker.Start(t)
	}
	return shared.broker
}

// End ends the shared RabbitMQ.
func End() {
	if shared.life == nil {
		return
	}
	for _, f := range slices.Backward(shared.life.cleanups) {
		f()
	}
}
