package slurmtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/daemon"
)

// Options are what a test chooses.
type Options struct {
	Nodes int // default: 2, called n1, n2, ...
	CPUs  int // of each, whatever the machine has; default: 4
	// Conf are parameters of slurm.conf beside those of this package, or in place of them.
	Conf map[string]string
	REST bool // tokens are accepted, so that [Slurm.REST] can be called
}

// Slurm is one that runs.
type Slurm struct {
	Conf    string // the file slurm.conf
	dir     string
	options Options
	ports   []int // slurmctld, slurmdbd, slurmrestd, then the slurmd
	runs    map[string]*daemon.Daemon
}

// Nodes are the names of the nodes.
func (s *Slurm) Nodes() []string {
	var names []string
	for i := range s.options.Nodes {
		names = append(names, fmt.Sprint("n", i+1))
	}
	return names
}

func (s *Slurm) path(name string) string { return filepath.Join(s.dir, name) }

// Env is the environment in which the commands of Slurm speak to this one.
func (s *Slurm) Env() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC", "SLURM_CONF=" + s.Conf,
	}
}

// CommandContext is a command of Slurm, to be run.
func (s *Slurm) CommandContext(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, find(name), args...)
	cmd.Env, cmd.Dir = s.Env(), "/"
	return cmd
}

func (s *Slurm) command(name string, args ...string) *exec.Cmd {
	return s.CommandContext(context.Background(), name, args...)
}

// Do runs a command of Slurm, which has to succeed, and returns its output.
func (s *Slurm) Do(t testing.TB, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := s.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// logs is the end of what the daemons wrote, for a failure.
func (s *Slurm) logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(s.path("log/*"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(file), text[max(0, len(text)-2000):])
	}
	return b.String()
}

// The daemons, as [Slurm.Stop], [Slurm.Kill] and [Slurm.Run] call them. A slurmd has the name of
// its node.
const (
	Munge      = "munged"
	Database   = "mariadbd"
	Accounting = "slurmdbd"
	Controller = "slurmctld"
	REST       = "slurmrestd"
)

// patience is how long a daemon has until it answers, on a slow machine.
const patience = 60 * time.Second

// find is the path of a program; /usr/sbin may not be in PATH.
func find(program string) string {
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	if path, err := exec.LookPath("/usr/sbin/" + program); err == nil {
		return path
	}
	return program
}
