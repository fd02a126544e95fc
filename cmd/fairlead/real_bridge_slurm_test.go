//go:build real

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/slurmtest"
)

// TestRealBridgeSlurm runs jobs through fairlead bridge slurm while the bridge is killed and
// slurmctld is restarted: each comes to its end, and runs once.
func TestRealBridgeSlurm(t *testing.T) {
	const jobs = 40
	s := slurmtest.Start(t, slurmtest.Options{Nodes: 2, CPUs: 2, Conf: map[string]string{"MessageTimeout": "2"}})
	flags := []string{"--conf", s.Conf, "--output", "/dev/null", "--group", "physics=50,biology=30", "--above", "daq"}
	var out, errs bytes.Buffer
	if status := run(append([]string{"bridge", "slurm", "--check"}, flags...), nil, &out, &errs); status != 0 || !strings.Contains(out.String(), "1 to 4294901759") {
		t.Errorf("--check ends with %d: %s%s", status, &out, &errs)
	}
	l := newLab(t, "pools: {physics: {}, biology: {}, daq: {}}\n")
	l.serve()
	bridge := func() {
		l.start("slurm", append([]string{"bridge", "slurm", "--server", l.socket, "--dir", filepath.Join(l.dir, "bridge")}, flags...)...)
	}
	bridge()
	file := filepath.Join(s.Dir(t, "work"), "ran")
	var r api.SubmitRequest
	for i := range jobs {
		pool := []string{"physics", "biology", "daq"}[i%3]
		r.Jobs = append(r.Jobs, api.Spec{Name: pool, Pool: pool, Dir: "/", Key: fmt.Sprint("key-", i), Argv: []string{"/bin/sh", "-c", `echo "$FAIRLEAD_JOB" >> "$0"; sleep 0.3`, file}})
	}
	l.client.As = "games"
	l.submit(l.client, r)
	ran := func() []string {
		text, _ := os.ReadFile(file)
		return strings.Fields(string(text))
	}
	for i := range 4 {
		l.until("more of them run", func() bool { return len(ran()) >= (i+1)*jobs/8 })
		l.kill("slurm")
		if i%2 == 1 {
			s.Restart(t, slurmtest.Controller)
		}
		bridge()
	}
	for _, n := range []int{jobs / 2, 3 * jobs / 4, jobs} { // a minute for each
		l.until(fmt.Sprintf("%d jobs have succeeded", n), func() bool { return len(list(t, l.client, "succeeded")) >= n })
	}
	count := map[string]int{}
	for _, id := range ran() {
		count[id]++
	}
	for id, n := range count {
		if n != 1 {
			t.Errorf("job %s ran %d times", id, n)
		}
	}
	if len(count) != jobs {
		t.Errorf("%d jobs ran, want %d", len(count), jobs)
	}
}
