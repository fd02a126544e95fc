//go:build campaign

package beanstalkd_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/beanstalkd"
	"github.com/fairlead/fairlead/internal/bridge/sharetest"
	"github.com/fairlead/fairlead/internal/bridge/worktest"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// TestCampaignShares checks that 600 jobs of several groups receive their shares of a real beanstalkd.
func TestCampaignShares(t *testing.T) {
	server := brokertest.NewBeanstalkd(t)
	o := beanstalkd.Options{Address: server.Address, Tube: "jobs", Logger: worktest.Logger(t)}
	work(t, o, 6)
	sharetest.Run(t, sharetest.Rig{
		Name: "beanstalkd", Open: func() bridge.QS { return beanstalkd.Open(o) }, Levels: []int64{200, 100, 50}, Slots: 6,
	})
}
