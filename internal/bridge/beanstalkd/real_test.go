//go:build real

package beanstalkd_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// work runs a worker until the end of the test.
func work(t *testing.T, o beanstalkd.Options, slots int) {
	t.Helper()
	worktest.Work(t, func(ctx context.Context, w *mq.Worker) {
		beanstalkd.Work(ctx, beanstalkd.WorkerOptions{Options: o, Slots: slots, Worker: w, Drain: time.Second})
	})
}

// TestRealBridge checks that the adapter keeps the contract with a real beanstalkd.
func TestRealBridge(t *testing.T) {
	server := brokertest.NewBeanstalkd(t)
	bridgetest.Run(t, func(t *testing.T) *bridgetest.Rig {
		o := beanstalkd.Options{Address: server.Address, Tube: "jobs", TTR: 20 * time.Second, Logger: worktest.Logger(t)}
		work(t, o, 1)
		return &bridgetest.Rig{
			QS: beanstalkd.Open(o), Levels: []int64{300, 200, 100},
			Reopen:  func(*testing.T) bridge.QS { return beanstalkd.Open(o) },
			Restart: func(t *testing.T) { server.Kill(); server.Start(t) },
		}
	})
}
