package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	daemons "github.com/fairlead/fairlead/internal/daemon"
)

var systemdUnits = []string{"fairlead-server.service", "fairlead-agent.service", "fairlead-node.service"}

// TestUnitsOnPage checks that the pages show the units as they are deployed.
func TestUnitsOnPage(t *testing.T) {
	t.Parallel()
	blocks, _ := blocksOf(readPage(t, "docs/how-to/lab.md"))
	more, _ := blocksOf(readPage(t, "docs/how-to/several-machines.md"))
	blocks = append(blocks, more...)
	for _, unit := range systemdUnits {
		found := false
		for _, b := range blocks {
			found = found || b.note == "unit: "+unit && b.text == deployed(t, "systemd/"+unit)
		}
		if !found {
			t.Errorf("neither page shows deploy/systemd/%s as it is", unit)
		}
	}
}

// TestUnitsAreValid lets systemd verify the units, with existing programs, and rate how much the server could do to the
// machine.
func TestUnitsAreValid(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		daemons.Skip(t, "there is no systemd-analyze here: apt-get install systemd")
	}
	dir := t.TempDir()
	for _, unit := range systemdUnits {
		text := strings.Replace(deployed(t, "systemd/"+unit), "/usr/local/bin/fairlead", "/bin/true", 1)
		if err := os.WriteFile(filepath.Join(dir, unit), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, unit := range systemdUnits {
		out, err := exec.Command(analyze, "verify", "--man=no", filepath.Join(dir, unit)).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "fairlead-") {
				t.Errorf("%s: %s", unit, line)
			}
		}
		if err != nil && len(out) == 0 {
			t.Errorf("%s: %v", unit, err)
		}
	}
	// The scale goes from 0, nothing, to 100, everything.
	out, err := exec.Command(analyze, "security", "--offline=yes", "--no-pager", "--threshold=30", filepath.Join(dir, systemdUnits[0])).CombinedOutput()
	if err != nil && strings.Contains(string(out), "Overall exposure level") {
		t.Errorf("the server may do more than it needs: %v\n%s", err, out)
	}
}
