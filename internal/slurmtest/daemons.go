package slurmtest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead/internal/daemon"
)

// Run starts a daemon unless it already runs, and waits until it answers.
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
	// Use a new process group, so that the daemon does not get signals that a terminal sends to the test.
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

func (s *Slurm) Kill(name string) {
	if d := s.runs[name]; d != nil && d.Alive() {
		d.Signal(syscall.SIGKILL, patience)
	}
}

// Saved reports whether a file of slurmctld's state exists and contains a text. When slurmctld ends, it does
// not save its state if one of its threads holds a lock for too long. Then the state that it saved before
// stays.
func (s *Slurm) Saved(file, text string) bool {
	state, err := os.ReadFile(s.path("state/" + file))
	return err == nil && bytes.Contains(state, []byte(text))
}

// Restart ends a daemon in an orderly way and starts it again.
func (s *Slurm) Restart(t testing.TB, name string) {
	t.Helper()
	s.Stop(name)
	if err := s.Run(name); err != nil {
		t.Fatalf("%v\n%s", err, s.logs())
	}
}
