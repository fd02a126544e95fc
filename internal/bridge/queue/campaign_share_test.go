//go:build campaign

package queue_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/sharetest"
)

// TestCampaignShares sends 600 real jobs of three groups and a priority group through a bridge.
func TestCampaignShares(t *testing.T) {
	o := start(t, 6)
	sharetest.Run(t, sharetest.Rig{
		Name: "fairlead", Open: func() bridge.QS { return o.open(t) }, Levels: []int64{0, 1, 2}, Slots: 6,
	})
}
