//go:build campaign

package main

import (
	"bytes"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/slurmtest"
)

// TestCampaignBridgeSlurm kills the bridge to a real Slurm and the server, and restarts slurmctld, at random
// instants. It ends slurmctld in an orderly way: a killed slurmctld forgets the jobs that it acknowledged in
// the last seconds, and the bridge has to submit those again.
func TestCampaignBridgeSlurm(t *testing.T) {
	s := slurmtest.Start(t, slurmtest.Options{Nodes: 2, CPUs: 8, Conf: map[string]string{"MessageTimeout": "2"}})
	flags := []string{"--conf", s.Conf, "--output", "/dev/null"}
	var out, errs bytes.Buffer
	check := append([]string{"bridge", "slurm", "--check", "--group", "physics=60,biology=40", "--above", "daq"}, flags...)
	if status := run(check, nil, &out, &errs); status != 0 || !strings.Contains(out.String(), "1 to 4294901759") {
		t.Errorf("--check ends with %d: %s%s", status, &out, &errs)
	}
	const who = "games"
	if _, err := user.Lookup(who); err != nil {
		t.Fatal(err)
	}
	bridgeChaos(t, bridgedQS{
		kind: "slurm", flags: flags, pause: 700 * time.Millisecond, user: who, trail: filepath.Join(s.Dir(t, "work"), "trail"),
		crash: func() { s.Restart(t, slurmtest.Controller) },
		// If slurmctld ends after it chose a node and before its message reaches the node, it believes that the job
		// runs until the node registers again, which takes half an hour by itself.
		mend: func() {
			for _, node := range s.Nodes() {
				s.Restart(t, node)
			}
		},
		failed: func(cause string) bool { return strings.HasPrefix(cause, "Slurm: FAILED (ReqNodeNotAvail") },
		shown:  s.Shown,
		left:   func() int { return len(strings.Fields(s.Do(t, "squeue", "-h", "-o", "%j"))) },
	})
}
