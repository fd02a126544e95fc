package slurmtest

import (
	"strings"
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

// Token returns a token of a user.
func (s *Slurm) Token(t testing.TB, name string) string {
	t.Helper()
	out := s.Do(t, "scontrol", "token", "username="+name, "lifespan=3600")
	_, token, _ := strings.Cut(strings.TrimSpace(out), "=")
	return token
}
