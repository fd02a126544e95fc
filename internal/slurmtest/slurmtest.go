// Package slurmtest runs a private Slurm for a test: its database, slurmdbd, slurmctld and several
// slurmd, of the programs that are installed, on free ports of the loopback, with all files
// in a directory of its own. It takes root. Nothing of a Slurm that the machine may be part of is
// read or changed.
package slurmtest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
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

// Start starts a Slurm that ends with the test. Without root or the programs the test is
// skipped, unless FAIRLEAD_NO_SKIP=1.
func Start(t testing.TB, o Options) *Slurm {
	t.Helper()
	if why := missing(o.REST); why != "" {
		if os.Getenv("FAIRLEAD_NO_SKIP") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	o.Nodes, o.CPUs = max(o.Nodes, 0), max(o.CPUs, 0)
	if o.Nodes == 0 {
		o.Nodes = 2
	}
	if o.CPUs == 0 {
		o.CPUs = 4
	}
	s := &Slurm{options: o, runs: map[string]*daemon.Daemon{}}
	t.Cleanup(s.end)
	if err := s.start(); err != nil {
		t.Fatalf("a Slurm for the test: %v\n%s", err, s.logs())
	}
	return s
}

// missing says what is needed and is not there.
func missing(rest bool) string {
	if os.Getuid() != 0 {
		return "a Slurm of the test's own takes root"
	}
	need := []string{Munge, Database, Accounting, Controller, "slurmd", "mariadb-install-db", "mariadb", "sbatch", "squeue", "sacctmgr"}
	if rest {
		need = append(need, REST)
	}
	for _, program := range need {
		if program != "" && find(program) == program {
			return program + " is missing: apt-get install slurm-wlm slurmdbd slurm-client slurmrestd slurm-wlm-jwt-plugin munge mariadb-server"
		}
	}
	return ""
}

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

func (s *Slurm) start() (err error) {
	// Not that of the test: the path of a socket must not be long, and other users pass here.
	if s.dir, err = os.MkdirTemp("", "fairlead-slurm-"); err != nil {
		return err
	}
	if err = os.Chmod(s.dir, 0o755); err != nil {
		return err
	}
	s.Conf = s.path("etc/slurm.conf")
	if s.ports, err = daemon.Ports(3 + s.options.Nodes); err != nil {
		return err
	}
	if err = s.write(); err != nil {
		return err
	}
	install := s.command("mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+s.path("db"), "--auth-root-authentication-method=normal", "--skip-test-db")
	// A database that starts clears its directory for temporary files, also of those of another.
	install.Env = append(install.Environ(), "TMPDIR="+s.path(""))
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	for _, name := range append([]string{Munge, Database, Accounting, Controller}, s.Nodes()...) {
		if err := s.Run(name); err != nil {
			return err
		}
	}
	return s.awaitNodes()
}

// Nodes are the names of the nodes.
func (s *Slurm) Nodes() []string {
	var names []string
	for i := range s.options.Nodes {
		names = append(names, fmt.Sprint("n", i+1))
	}
	return names
}

// awaitNodes waits until all nodes are idle.
func (s *Slurm) awaitNodes() error {
	return s.runs[Controller].Await(patience, func(ctx context.Context) error {
		out, err := s.CommandContext(ctx, "sinfo", "-h", "-N", "-o", "%T").Output()
		if n := strings.Count(string(out), "idle\n"); err == nil && n < s.options.Nodes {
			return fmt.Errorf("%d of %d nodes are idle", n, s.options.Nodes)
		}
		return err
	})
}

func (s *Slurm) path(name string) string { return filepath.Join(s.dir, name) }

// Env is the environment in which the commands of Slurm speak to this one.
func (s *Slurm) Env() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC", "SLURM_CONF=" + s.Conf}
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

// end ends all daemons and what they left behind, and removes the files.
func (s *Slurm) end() {
	names := slices.Sorted(maps.Keys(s.runs))
	for _, name := range slices.Backward(names) { // slurmd and Slurm's before munged and the database
		if d := s.runs[name]; d.Alive() {
			d.Signal(syscall.SIGKILL, patience)
		}
	}
	s.endJobs()
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// endJobs kills what runs of jobs: it outlives its slurmd by design, and is known by its
// environment.
func (s *Slurm) endJobs() {
	mark := "SLURM_CONF=" + s.Conf
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		env, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && pid != os.Getpid() && slices.Contains(strings.Split(string(env), "\x00"), mark) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
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
