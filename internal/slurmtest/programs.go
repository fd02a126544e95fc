package slurmtest

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// daemon returns the command that runs a daemon in the foreground, and a check whether the daemon answers.
func (s *Slurm) daemon(name string) (*exec.Cmd, func(context.Context) error) {
	answers := func(program string, args ...string) func(context.Context) error {
		return func(ctx context.Context) error { return s.run(ctx, program, args...) }
	}
	socket := s.path("run/db.sock")
	switch name {
	case Munge:
		return s.command(Munge, "--foreground", "--key-file="+s.path("munge/key"), "--socket="+s.path("munge/sock"),
				"--pid-file="+s.path("run/munged.pid"),
				"--log-file="+s.path("log/munged.log"), "--seed-file="+s.path("munge/seed"), "--num-threads=4", "--force"),
			answers("munge", "--no-input", "--socket="+s.path("munge/sock"))
	case Database:
		return s.command(Database, "--no-defaults", "--user=root", "--datadir="+s.path("db"), "--socket="+socket,
			"--skip-networking", "--tmpdir="+s.path("run"),
			"--pid-file="+s.path("run/mariadbd.pid"), "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900",
			"--innodb-flush-log-at-trx-commit=2"), s.grant
	case Accounting:
		cmd := s.command(Accounting, "-D")
		cmd.Env = append(cmd.Env, "MYSQL_UNIX_PORT="+socket) // slurmdbd has no parameter for the socket
		return cmd, s.addCluster
	case Controller:
		return s.command(Controller, "-D"), answers("squeue", "-h")
	case REST:
		return s.restDaemon()
	}
	return s.command("slurmd", "-D", "-N", name), answers("scontrol", "show", "node", name)
}

// run runs a command that succeeds when a daemon answers.
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

// addCluster adds the cluster to slurmdbd, which must know it before slurmctld starts.
func (s *Slurm) addCluster(ctx context.Context) error {
	out, err := s.CommandContext(ctx, "sacctmgr", "-n", "-P", "show", "cluster", "format=cluster").Output()
	if err != nil || slices.Contains(strings.Fields(string(out)), cluster) {
		return err
	}
	return s.run(ctx, "sacctmgr", "-i", "add", "cluster", cluster)
}

func (s *Slurm) restAddress() string { return fmt.Sprint("127.0.0.1:", s.ports[2]) }

// restDaemon returns the command and the check of slurmrestd, which refuses to run as root.
func (s *Slurm) restDaemon() (*exec.Cmd, func(context.Context) error) {
	cmd := s.command(REST, "-a", "rest_auth/jwt", "-s", "openapi/v0.0.38,openapi/dbv0.0.38", s.restAddress())
	if u, err := user.Lookup("nobody"); err == nil {
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	cmd.Env = append(cmd.Env, "SLURM_JWT=daemon")
	return cmd, func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.restAddress())
		if err != nil {
			return err
		}
		return c.Close()
	}
}
