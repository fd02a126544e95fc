//go:build campaign

package slurm_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/sharetest"
	"github.com/fairlead/fairlead/internal/bridge/slurm"
	"github.com/fairlead/fairlead/internal/slurmtest"
)

// TestCampaignShares checks that 600 jobs of several groups receive their shares of a real Slurm. Slurm's
// times are whole seconds, so each job runs for one second, and the order of starts is known to within two.
func TestCampaignShares(t *testing.T) {
	s := slurmtest.Start(t, slurmtest.Options{Nodes: 2, CPUs: 8})
	sharetest.Run(t, sharetest.Rig{
		Name: "slurm", Levels: []int64{1000, 2000, 3000}, Slots: 16, Seconds: 1,
		Unsharp: 2 * time.Second, Tolerance: 10, // Slurm reports whole seconds of jobs that take one
		Open: func() bridge.QS { return open(t, slurm.Options{Conf: s.Conf, Output: "/dev/null", AllowRoot: true}) },
	})
}
