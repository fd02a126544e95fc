package slurmtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
)

// Run starts a daemon that does not run, and waits until it answers.
func (s *Slurm) Run(name string) error {
	if d := s.runs[name]; d != nil && d.Alive() {
		return nil
	}
	log, err := os.OpenFile(s.path("log/"+name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd, ready := s.daemon(name)
	cmd.Stdout, cmd.Stderr = log, log
	// Of its own group: what a terminal sends to the test it does not get.
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	d, err := daemon.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	s.runs[name] = d
	if err := d.Await(patience, ready); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Stop ends a daemon in an orderly way.
func (s *Slurm) Stop(name string) {
	if d := s.runs[name]; d != nil && d.Alive() {
		d.Signal(syscall.SIGTERM, patience)
	}
}

// Kill kills a daemon.
func (s *Slurm) Kill(name string) {
	if d := s.runs[name]; d != nil && d.Alive() {
		d.Signal(syscall.SIGKILL, patience)
	}
}

// Restart ends a daemon in an orderly way and starts it again.
func (s *Slurm) Restart(t testing.TB, name string) {
	t.Helper()
	s.Stop(name)
	if err := s.Run(name); err != nil {
		t.Fatalf("%v\n%s", err, s.logs())
	}
}

// Reconfigure changes parameters of slurm.conf and restarts slurmctld. An empty value is that
// which Slurm takes by itself.
func (s *Slurm) Reconfigure(t testing.TB, conf map[string]string) {
	t.Helper()
	if s.options.Conf == nil {
		s.options.Conf = map[string]string{}
	}
	for name, value := range conf {
		s.options.Conf[name] = value
	}
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	s.Restart(t, Controller)
}

// daemon is how a daemon is started in the foreground, and how one knows that it answers.
func (s *Slurm) daemon(name string) (*exec.Cmd, func(context.Context) error) {
	answers := func(program string, args ...string) func(context.Context) error {
		return func(ctx context.Context) error { return s.run(ctx, program, args...) }
	}
	socket := s.path("run/db.sock")
	switch name {
	case Munge:
		return s.command(Munge, "--foreground", "--key-file="+s.path("munge/key"), "--socket="+s.path("munge/sock"), "--pid-file="+s.path("run/munged.pid"),
				"--log-file="+s.path("log/munged.log"), "--seed-file="+s.path("munge/seed"), "--num-threads=4", "--force"),
			answers("munge", "--no-input", "--socket="+s.path("munge/sock"))
	case Database:
		return s.command(Database, "--no-defaults", "--user=root", "--datadir="+s.path("db"), "--socket="+socket, "--skip-networking", "--tmpdir="+s.path("run"),
			"--pid-file="+s.path("run/mariadbd.pid"), "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=2"), s.grant
	case Accounting:
		cmd := s.command(Accounting, "-D")
		cmd.Env = append(cmd.Env, "MYSQL_UNIX_PORT="+socket) // it has no parameter for the socket
		return cmd, s.addCluster
	case Controller:
		return s.command(Controller, "-D"), answers("squeue", "-h")
	case REST:
		return s.restDaemon()
	}
	return s.command("slurmd", "-D", "-N", name), answers("scontrol", "show", "node", name)
}

// run runs a command that answers when a daemon does.
func (s *Slurm) run(ctx context.Context, program string, args ...string) error {
	out, err := s.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, out)
	}
	return nil
}

// grant gives slurmdbd its account in the database.
func (s *Slurm) grant(ctx context.Context) error {
	return s.run(ctx, "mariadb", "--no-defaults", "-uroot", "-S", s.path("run/db.sock"), "-e",
		"create user if not exists slurm@localhost identified by 'slurm'; grant all on slurm_acct_db.* to slurm@localhost")
}

// addCluster makes the cluster known to slurmdbd, which it has to be before slurmctld starts.
func (s *Slurm) addCluster(ctx context.Context) error {
	out, err := s.CommandContext(ctx, "sacctmgr", "-n", "-P", "show", "cluster", "format=cluster").Output()
	if err != nil || slices.Contains(strings.Fields(string(out)), cluster) {
		return err
	}
	return s.run(ctx, "sacctmgr", "-i", "add", "cluster", cluster)
}
