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

// TestCampaignShares: 600 jobs receive their parts of a real Slurm. Its times are whole seconds, so
// the jobs run for one, and who passed whom is known to two.
func TestCampaignShares(t *testing.T) {
	s := slurmtest.Start(t, slurmtest.Options{Nodes: 2, CPUs: 8})
	sharetest.Run(t, sharetest.Rig{
		Name: "slurm", Levels: []int64{1000, 2000, 3000}, Slots: 16, Seconds: 1,
		Unsharp: 2 * time.Second, Tolerance: 10, // Slurm tells whole seconds of jobs that take one
		Open: func() bridge.QS { return open(t, slurm.Options{Conf: s.Conf, Output: "/dev/null", AllowRoot: true}) },
	})
}
