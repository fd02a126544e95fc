//go:build campaign

package main

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestCampaignBridgeBeanstalkd kills the bridge to a real beanstalkd, the beanstalkd itself, and the server, at random
// instants. This beanstalkd does not compact its files (-n): otherwise it may lose jobs that it acknowledged.
func TestCampaignBridgeBeanstalkd(t *testing.T) {
	b := brokertest.NewKeepingBeanstalkd(t)
	brokerChaos(t, "beanstalkd", b.Address, func() { b.Kill(); b.Start(t) })
}

// TestCampaignBridgeRabbitMQ does the same with a real RabbitMQ.
func TestCampaignBridgeRabbitMQ(t *testing.T) {
	b := brokertest.NewRabbitMQ(t)
	brokerChaos(t, "rabbitmq", b.URL, func() { b.Kill(); b.Start(t) })
}

// brokerLease is longer than any outage of a broker or a bridge.
const brokerLease = time.Minute

// brokerChaos runs the campaign with a worker that nobody kills. If the broker dies, it later hands out the jobs that
// the worker was running a second time.
func brokerChaos(t *testing.T, kind, to string, crash func()) {
	t.Helper()
	r := newRig(t, brokerLease)
	r.agents["worker"] = r.start("worker", "bridge", "worker", kind, "--to", to, "--slots", "8", "--any-user", "--allow-root", "--dir", r.dir, "--log", "info")
	bridgeChaos(t, bridgedQS{kind: kind, flags: []string{"--to", to}, crash: crash, reruns: true})
}
