package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// TestBounds checks that the smallest limit of a control group and its ancestors counts.
func TestBounds(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("system.slice/memory.max", "8589934592\n")
	write("system.slice/agent.service/memory.max", "max\n")
	write("system.slice/agent.service/pids.max", "512\n")
	write("system.slice/pids.max", "4915\n")
	write("system.slice/agent.service/cpu.max", "250000 100000\n")
	write("system.slice/cpu.max", "max 100000\n")
	write("pids.max", "nonsense")
	for own, want := range map[string]api.Facts{
		"0::/system.slice/agent.service\n":            {MaxMemory: 8 << 30, MaxTasks: 512, MaxCPUs: 2.5},
		"1:name=systemd:/x\n0::/system.slice\n":       {MaxMemory: 8 << 30, MaxTasks: 4915},
		"0::/\n":                                      {},
		"5:memory:/system.slice/agent.service\n":      {}, // control groups version 1
		"0::/../../system.slice/gone/agent.service\n": {MaxMemory: 8 << 30, MaxTasks: 4915},
	} {
		var got api.Facts
		if bounds(root, own, &got); got != want {
			t.Errorf("%q: %+v, want %+v", own, got, want)
		}
	}
}

// TestFacts checks that an agent reports the facts of its machine, and whether it can write output.
func TestFacts(t *testing.T) {
	dir := t.TempDir()
	m, err := OpenMachine(Options{Name: "n1", Dir: dir, AnyUser: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	f := m.facts()
	if f.Runs != "any" || f.User == "" || f.Dir != dir || f.FreeBytes <= 0 || f.OpenFiles <= 0 || f.Problem != "" ||
		time.Since(f.At).Abs() > time.Minute || f.AllowRoot != (os.Getuid() == 0) {
		t.Errorf("the facts are %+v", f)
	}
	if err := os.RemoveAll(filepath.Join(dir, "logs")); err != nil {
		t.Fatal(err)
	}
	if f := m.facts(); f.Problem == "" {
		t.Error("the directory for output is gone, and the agent does not say so")
	}
}
