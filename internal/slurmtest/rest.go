package slurmtest

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// REST starts slurmrestd, and returns its URL and a token of root. It needs Options.REST.
func (s *Slurm) REST(t testing.TB) (url, token string) {
	t.Helper()
	if err := s.Run(REST); err != nil {
		t.Fatalf("%v\n%s", err, s.logs())
	}
	return "http://" + s.restAddress(), s.Token(t, "root")
}

// Token is a token of a user.
func (s *Slurm) Token(t testing.TB, name string) string {
	t.Helper()
	out := s.Do(t, "scontrol", "token", "username="+name, "lifespan=3600")
	_, token, _ := strings.Cut(strings.TrimSpace(out), "=")
	return token
}

func (s *Slurm) restAddress() string { return fmt.Sprint("127.0.0.1:", s.ports[2]) }

// restDaemon is slurmrestd, which refuses to run as root.
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
