// Package slurmtest runs a private Slurm for a test: its database, slurmdbd, slurmctld and several slurmd. It
// uses the installed programs, free ports of the loopback, and its own directory for all files. It needs
// root. It neither reads nor changes a Slurm to which the machine may belong.
package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
	"github.com/fairlead/fairlead/internal/tempdir"
)

// Start starts a Slurm that ends with the test. Without root or the programs it skips the test, if skipping
// is allowed.
func Start(t testing.TB, o Options) *Slurm {
	t.Helper()
	if why := missing(o.REST); why != "" {
		daemon.Skip(t, why)
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

// missing names a requirement that is not met: root, or a program. It returns "" if all are met.
func missing(rest bool) string {
	if os.Getuid() != 0 {
		return "a Slurm of the test's own takes root"
	}
	need := []string{
		Munge, Database, Accounting, Controller, "slurmd", "mariadb-install-db", "mariadb", "sbatch", "squeue", "sacctmgr",
	}
	if rest {
		need = append(need, REST)
	}
	for _, program := range need {
		if program != "" && find(program) == program {
			return program + " is missing: apt-get install slurm-wlm slurmdbd slurm-client slurmrestd slurm-wlm-jwt-plugin " +
				"munge mariadb-server"
		}
	}
	return ""
}

func (s *Slurm) start() (err error) {
	// Do not use the directory of the test: the path of a socket must be short, and other users must reach
	// it.
	if s.dir, s.remove, err = tempdir.New("", "fairlead-slurm-"); err != nil {
		return err
	}
	endLost()
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
	install := s.command("mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+s.path("db"),
		"--auth-root-authentication-method=normal", "--skip-test-db")
	// A database that starts clears its directory for temporary files, even files of other databases.
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

// Shown returns Slurm's description of its jobs and nodes, and the ends of its logs, for a test that failed.
func (s *Slurm) Shown() string {
	var b strings.Builder
	for _, args := range [][]string{
		{"sinfo", "-N", "-l"},
		{"squeue", "-o", "%i %T %r %N %S %M %k", "-t", "all", "--sort=-i"},
		{"scontrol", "-o", "show", "jobs", "--details"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		out, err := s.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
		cancel()
		fmt.Fprintf(&b, "%s: %v\n%s\n", args[0], err, unended(out))
	}
	return b.String() + s.logs()
}

// unended removes the lines of jobs that have ended.
func unended(out []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "COMPLETED") && !strings.Contains(line, "CANCELLED") && !strings.Contains(line, "FAILED") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// end ends all daemons and the processes that they left, and removes the files.
func (s *Slurm) end() {
	names := slices.Sorted(maps.Keys(s.runs))
	for _, name := range slices.Backward(names) { // end slurmd and Slurm's daemons before munged and the database
		if d := s.runs[name]; d.Alive() {
			d.Signal(syscall.SIGKILL, patience)
		}
	}
	endJobs(func(conf string) bool { return conf == s.Conf })
	if s.remove != nil {
		s.remove()
	}
}

// endLost kills the processes of jobs whose test was killed, and whose directory tempdir.New has removed.
func endLost() {
	lost := filepath.Join(os.TempDir(), "fairlead-slurm-*", "etc", "slurm.conf")
	endJobs(func(conf string) bool {
		named, _ := filepath.Match(lost, conf)
		_, err := os.Stat(conf)
		return named && errors.Is(err, fs.ErrNotExist)
	})
}

// endJobs kills the processes of jobs, which outlive their slurmd by design. It finds them by the path of
// slurm.conf in their environment.
func endJobs(whose func(conf string) bool) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		env, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, variable := range strings.Split(string(env), "\x00") {
			if conf, is := strings.CutPrefix(variable, "SLURM_CONF="); is && whose(conf) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
