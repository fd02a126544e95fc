//go:build real

package rabbitmq_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

func TestMain(m *testing.M) {
	status := m.Run()
	brokertest.End()
	os.Exit(status)
}

// work runs a worker until the end of the test.
func work(t *testing.T, o rabbitmq.Options, slots int) {
	t.Helper()
	worktest.Work(t, func(ctx context.Context, w *mq.Worker) {
		rabbitmq.Work(ctx, rabbitmq.WorkerOptions{Options: o, Slots: slots, Worker: w, Drain: time.Second})
	})
}

// TestRealBridge checks that the adapter keeps the contract with a real RabbitMQ.
func TestRealBridge(t *testing.T) {
	server := brokertest.SharedRabbitMQ(t)
	bridgetest.Run(t, func(t *testing.T) *bridgetest.Rig {
		o := rabbitmq.Options{URL: server.URL, Queue: "jobs", Priorities: 5, Logger: worktest.Logger(t)}
		work(t, o, 1)
		return &bridgetest.Rig{
			QS: rabbitmq.Open(o), Levels: []int64{1, 2, 4},
			Reopen:  func(*testing.T) bridge.QS { return rabbitmq.Open(o) },
			Restart: func(t *testing.T) { server.Kill(); server.Start(t) },
		}
	})
}
