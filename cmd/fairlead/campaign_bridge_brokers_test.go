//go:build campaign

package main

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestCampaignBridgeBeanstalkd kills the bridge to a real beanstalkd, that, and the server, at random
// instants. It
// keeps its files (-n): otherwise it may forget what it acknowledged.
func TestCampaignBridgeBeanstalkd(t *testing.T) {
	b := brokertest.NewKeepingBeanstalkd(t)
	brokerChaos(t, "beanstalkd", b.Address, func() { b.Kill(); b.Start(t) })
}

// TestCampaignBridgeRabbitMQ does so with a real RabbitMQ.
func TestCampaignBridgeRabbitMQ(t *testing.T) {
	b := brokertest.NewRabbitMQ(t)
	brokerChaos(t, "rabbitmq", b.URL, func() { b.Kill(); b.Start(t) })
}

// brokerLease is longer than a broker or a bridge is away.
const brokerLease = time.Minute

// brokerChaos has a worker, which nobody kills. What it was running when the broker died
// that gives out again.
func brokerChaos(t *testing.T, kind, to string, crash func()) {
	t.Helper()
	r := newRig(t, brokerLease)
	r.agents["worker"] = r.start("worker", "bridge", "worker", kind, "--to", to, "--slots", "8", "--any-user", "--allow-root", "--dir", r.dir, "--log", "info")
	bridgeChaos(t, bridgedQS{kind: kind, flags: []string{"--to", to}, crash: crash, reruns: true})
}
