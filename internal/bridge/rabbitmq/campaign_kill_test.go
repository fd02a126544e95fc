//go:build campaign

package rabbitmq_test

import (
	"os"
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/killtest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

func TestMain(m *testing.M) {
	killtest.Main(func(address string) bridge.QS { return adapter(address, "kills") })
	os.Exit(m.Run())
}

// TestCampaignKills: whoever is killed when, each submission is in the queue once.
func TestCampaignKills(t *testing.T) {
	server := brokertest.NewRabbitMQ(t)
	killtest.Run(t, killtest.Rig{
		Address: server.URL, Open: func() bridge.QS { return adapter(server.URL, "kills") },
		Kill: server.Kill, Start: func() { server.Start(t) }, Kills: 30, Restarts: 4,
		Contents: func() []string { return contents(t, server, "kills") },
	})
}
