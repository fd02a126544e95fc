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

// Options are the choices of a test.
type Options struct {
	Nodes int // default: 2, called n1, n2, ...
	CPUs  int // of each node, whatever the machine has; default: 4
	// Conf holds parameters of slurm.conf that add to, or replace, those of this package.
	Conf map[string]string
	REST bool // accept tokens, so that [Slurm.REST] works
}

// Slurm is a running Slurm.
type Slurm struct {
	Conf    string // path of slurm.conf
	dir     string
	remove  func() // removes the directory
	options Options
	ports   []int // of slurmctld, slurmdbd, slurmrestd, and each slurmd
	runs    map[string]*daemon.Daemon
}

// Nodes returns the names of the nodes.
func (s *Slurm) Nodes() []string {
	var names []string
	for i := range s.options.Nodes {
		names = append(names, fmt.Sprint("n", i+1))
	}
	return names
}

func (s *Slurm) path(name string) string { return filepath.Join(s.dir, name) }

// Env returns the environment in which Slurm's commands talk to this Slurm.
func (s *Slurm) Env() []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC", "SLURM_CONF=" + s.Conf,
	}
}

// CommandContext returns a command of Slurm.
func (s *Slurm) CommandContext(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, find(name), args...)
	cmd.Env, cmd.Dir = s.Env(), "/"
	return cmd
}

func (s *Slurm) command(name string, args ...string) *exec.Cmd {
	return s.CommandContext(context.Background(), name, args...)
}

// Do runs a command of Slurm, which must succeed, and returns its output.
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

// logs returns the ends of the daemons' logs, for the message of a failure.
func (s *Slurm) logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(s.path("log/*"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(file), text[max(0, len(text)-2000):])
	}
	return b.String()
}

// Names of the daemons for [Slurm.Stop], [Slurm.Kill] and [Slurm.Run]. A slurmd has the name of its node.
const (
	Munge      = "munged"
	Database   = "mariadbd"
	Accounting = "slurmdbd"
	Controller = "slurmctld"
	REST       = "slurmrestd"
)

// patience is how long a daemon may take until it answers, on a slow machine.
const patience = 60 * time.Second

// find returns the path of a program; /usr/sbin may not be in PATH.
func find(program string) string {
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	if path, err := exec.LookPath("/usr/sbin/" + program); err == nil {
		return path
	}
	return program
}
