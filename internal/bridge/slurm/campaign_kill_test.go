//go:build campaign

package slurm_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/killtest"
	"github.com/fairlead/fairlead/internal/bridge/slurm"
	"github.com/fairlead/fairlead/internal/slurmtest"
	"github.com/fairlead/fairlead/queue"
)

var kills = flag.Int("kills", 10, "how often the bridge is killed; half as often slurmctld is restarted meanwhile")

// closed returns a QS that submits to a partition in which nothing runs.
func closed(conf string) bridge.QS {
	q, err := slurm.Open(slurm.Options{Conf: conf, Output: "/dev/null", AllowRoot: true, Partition: "closed"})
	if err != nil {
		panic(err)
	}
	return q
}

// A process that is started only to be killed must not run the tests.
func init() { killtest.Main(closed) }

// TestCampaignKills checks that each submission is in the queue once, whenever the bridge is killed or
// slurmctld is restarted. The test stops slurmctld in an orderly way: a slurmctld that is killed forgets jobs
// that it acknowledged some seconds before, as TestRealLife shows.
func TestCampaignKills(t *testing.T) {
	t.Parallel()
	s := slurmtest.Start(t, slurmtest.Options{Conf: map[string]string{"MessageTimeout": "2"}})
	killtest.Run(t, killtest.Rig{
		Address: s.Conf, Open: func() bridge.QS { return closed(s.Conf) },
		Kill: func() { s.Stop(slurmtest.Controller) }, Start: func() { s.Restart(t, slurmtest.Controller) }, Kills: *kills,
		Restarts: *kills / 2, Lull: 50 * time.Millisecond,
		Contents: func() []string { return strings.Fields(s.Do(t, "squeue", "-h", "-o", "%j")) },
	})
}

// TestCampaignRate measures how fast the bridge submits jobs by commands and by slurmrestd, and compares it
// with a plain loop of sbatch.
func TestCampaignRate(t *testing.T) {
	s := slurmtest.Start(t, slurmtest.Options{REST: true})
	url, token := s.REST(t)
	over := open(t, slurm.Options{Output: "/dev/null", AllowRoot: true, Partition: "closed",
		REST: &slurm.REST{URL: url, User: "root", Token: func() (string, error) { return token, nil }}})
	defer over.Close()
	const n = 100
	submit := func(q bridge.QS) func(round int) {
		return func(round int) {
			all := make([]bridge.Submission, n)
			for i := range all {
				all[i] = bridge.Submission{
					Marker: fmt.Sprintf("rate-%d-%d", round, i), Priority: 1000, Job: &queue.Job{
						User: "root", Argv: []string{"true"}, Dir: "/", Limit: time.Hour,
					},
				}
			}
			receipts, err := q.Submit(t.Context(), all)
			for _, r := range receipts {
				if err != nil || r.Err != nil {
					t.Fatal(err, r.Err)
				}
			}
		}
	}
	bare := func(int) {
		for range n {
			s.Do(t, "sbatch", "--parsable", "--partition=closed", "--priority=1000", "--chdir=/", "--output=/dev/null",
				"--time=60", "--wrap=true")
		}
	}
	rates := map[string]float64{}
	for round := range 6 { // in turn, so that all find the same load
		for _, way := range []struct {
			name string
			run  func(round int)
		}{{"bridge", submit(closed(s.Conf))}, {"sbatch", bare}, {"REST", submit(over)}} {
			began := time.Now()
			way.run(round)
			rates[way.name] = max(rates[way.name], n/time.Since(began).Seconds())
		}
	}
	t.Logf("figure: submissions per second: bridge %.0f, a loop of sbatch %.0f, by slurmrestd %.0f", rates["bridge"],
		rates["sbatch"], rates["REST"])
	if rates["bridge"] < rates["sbatch"]/2 {
		t.Errorf("the bridge submits %.0f jobs a second, a loop of sbatch %.0f", rates["bridge"], rates["sbatch"])
	}
}
