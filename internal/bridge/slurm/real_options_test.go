//go:build real

package slurm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/script"
)

// TestRealOptions: scripts may have every option that this sbatch lists in its help.
func TestRealOptions(t *testing.T) {
	if _, err := exec.LookPath("sbatch"); err != nil {
		daemon.Skip(t, "there is no sbatch here: apt-get install slurm-client")
	}
	conf := filepath.Join(t.TempDir(), "slurm.conf") // without one it looks for its cluster first
	if err := os.WriteFile(conf, []byte("ClusterName=any\nSlurmctldHost=localhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	help := exec.Command("sbatch", "--help")
	help.Env = append(os.Environ(), "SLURM_CONF="+conf)
	out, err := help.Output()
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`(?m)^ +(?:-[a-zA-Z], )?--([a-z-]+)(=?)`).FindAllStringSubmatch(string(out), -1)
	if len(listed) < 80 {
		t.Fatalf("sbatch lists %d options:\n%s", len(listed), out)
	}
	known := script.SbatchOptions()
	for _, m := range listed {
		if value, is := known[m[1]]; !is || m[2] == "=" && !value {
			t.Errorf("--%s%s: known %v, needs a value %v", m[1], m[2], is, value)
		}
	}
}
