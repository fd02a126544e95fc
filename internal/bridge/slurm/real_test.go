//go:build real

package slurm_test

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
	"github.com/fairlead/fairlead/internal/bridge/slurm"
	"github.com/fairlead/fairlead/internal/slurmtest"
)

// single returns options for a Slurm that runs one job at a time, and whose short timeout lets the bridge
// soon be sure that a job is absent.
func single(rest bool) slurmtest.Options {
	return slurmtest.Options{Nodes: 1, CPUs: 1, REST: rest, Conf: map[string]string{"MessageTimeout": "5"}}
}

// TestRealContract runs the contract of bridges on a real Slurm.
func TestRealContract(t *testing.T) {
	t.Parallel()
	s := slurmtest.Start(t, single(false))
	reopen := func(t *testing.T) bridge.QS {
		return open(t, slurm.Options{Conf: s.Conf, Output: "/dev/null", AllowRoot: true})
	}
	contract(t, s, reopen)
}

// TestRealContractOverREST runs the contract through slurmrestd.
func TestRealContractOverREST(t *testing.T) {
	t.Parallel()
	s := slurmtest.Start(t, single(true))
	url, _ := s.REST(t)
	o := slurm.Options{
		Output: "/dev/null", AllowRoot: true, REST: &slurm.REST{
			URL: url, User: "root", Token: func() (string, error) { return s.Token(t, "root"), nil },
		},
	}
	contract(t, s, func(t *testing.T) bridge.QS { return open(t, o) })
}

func contract(t *testing.T, s *slurmtest.Slurm, reopen func(t *testing.T) bridge.QS) {
	bridgetest.Run(t, func(t *testing.T) *bridgetest.Rig {
		return &bridgetest.Rig{
			QS: reopen(t), Reopen: reopen, Levels: []int64{1000, 2000, 3000}, Many: 30, Patience: 2 * time.Minute,
			Restart: func(t *testing.T) { s.Restart(t, slurmtest.Controller) },
			Lacks:   bridgetest.Lacks{Output: true},
		}
	})
}

func open(t *testing.T, o slurm.Options) bridge.QS {
	t.Helper()
	q, err := slurm.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
