package bridgetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fairlead/fairlead/internal/bridge"
	"github.com/fairlead/fairlead/internal/bridge/bridgetest"
)

// execute runs an entry as a process.
func execute(ctx context.Context, s bridge.Submission) bridgetest.Ran {
	argv := s.Job.Argv
	if s.Job.Script {
		file := filepath.Join(s.Job.Dir, s.Marker)
		if err := os.WriteFile(file, s.Job.Payload, 0o600); err != nil {
			return bridgetest.Ran{ExitCode: 126, Output: err.Error()}
		}
		argv = append([]string{"/bin/sh", file}, argv[1:]...)
	}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = s.Job.Dir, os.Environ()
	for name, value := range s.Variables() {
		c.Env = append(c.Env, name+"="+value)
	}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return bridgetest.Ran{ExitCode: exit.ExitCode(), Output: string(out)}
	case err != nil:
		return bridgetest.Ran{ExitCode: 127, Output: err.Error()}
	}
	return bridgetest.Ran{Output: string(out)}
}

// TestFake runs the suite against the queueing system in memory: a suite that no adapter passes would prove
// nothing.
func TestFake(t *testing.T) {
	bridgetest.Run(t, func(t *testing.T) *bridgetest.Rig {
		f := &bridgetest.Fake{Slots: 1, Run: execute}
		return &bridgetest.Rig{
			QS: f.Adapter(), Levels: []int64{0, 10, 20}, Reopen: func(*testing.T) bridge.QS { return f.Adapter() },
			Restart: func(*testing.T) {}, Many: 30,
		}
	})
}
