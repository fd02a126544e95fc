//go:build campaign

package beanstalkd_test

import (
	"testing"

	"github.com/beanstalkd/go-beanstalk"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/killtest"
	"github.com/fairlead/fairlead/internal/bridge/mq"
	"github.com/fairlead/fairlead/internal/brokertest"
)

// A process that is started only to be killed must not run the tests.
func init() { killtest.Main(adapter) }

// TestCampaignKills checks that each submission is in the tube once, whenever the bridge or beanstalkd is
// killed.
func TestCampaignKills(t *testing.T) {
	server := brokertest.NewBeanstalkd(t)
	killtest.Run(t, killtest.Rig{
		Address: server.Address, Open: func() bridge.QS { return adapter(server.Address) },
		Kill: server.Kill, Start: func() { server.Start(t) }, Kills: 60, Restarts: 30,
		Forgets: 5, // beanstalkd loses a job if it is killed while it moves the job to the next file
		Contents: func() (markers []string) {
			jobs := beanstalk.NewTubeSet(client(t, server), "jobs")
			for {
				_, body, err := jobs.Reserve(0)
				if err != nil {
					return markers
				}
				if task, err := mq.ReadTask(body); err == nil { // a kill may leave a job half written
					markers = append(markers, task.Marker)
				}
			}
		},
	})
}
