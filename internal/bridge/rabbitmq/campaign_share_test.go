//go:build campaign

package rabbitmq_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/rabbitmq"
	"github.com/fairlead/fairlead/internal/bridge/sharetest"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestCampaignShares checks that 600 jobs of several groups receive their shares of a real RabbitMQ.
func TestCampaignShares(t *testing.T) {
	server := brokertest.NewRabbitMQ(t)
	o := rabbitmq.Options{URL: server.URL, Queue: "shares", Priorities: 3, Logger: worktest.Logger(t)}
	work(t, o, 6)
	sharetest.Run(t, sharetest.Rig{
		Name: "RabbitMQ", Open: func() bridge.QS { return rabbitmq.Open(o) }, Levels: []int64{0, 1, 2}, Slots: 6,
	})
}
