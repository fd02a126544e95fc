//go:build campaign

package rabbitmq_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/killtest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// A process that is started only to be killed must not run the tests.
func init() { killtest.Main(func(address string) bridge.QS { return adapter(address, "kills") }) }

// TestCampaignKills checks that each submission is in the queue once, whenever the bridge or RabbitMQ is
// killed.
func TestCampaignKills(t *testing.T) {
	server := brokertest.NewRabbitMQ(t)
	killtest.Run(t, killtest.Rig{
		Address: server.URL, Open: func() bridge.QS { return adapter(server.URL, "kills") },
		Kill: server.Kill, Start: func() { server.Start(t) }, Kills: 30, Restarts: 4,
		Contents: func() []string { return contents(t, server, "kills") },
	})
}
