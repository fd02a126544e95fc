package agent

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead/fairlead/internal/filelock"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/process"
)

// OpenMachine locks the directory, and kills processes that an earlier holder left.
func OpenMachine(o Options) (*Machine, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Drain = cmp.Or(o.Drain, 30*time.Second)
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		options: o, log: o.Logger, dir: dir,
		// The mark distinguishes the tasks of this machine from those of machines with the same name.
		mark: fmt.Sprintf("%x/%s/", sha256.Sum256([]byte(dir)), o.Name)[56:],
	}
	// Make the directory for scripts first. If its parents are missing, scriptDir makes them such that other users can
	// pass through; the code that makes the directory for output would make them without that right.
	if m.scripts, err = scriptDir(dir); err != nil {
		return nil, err
	}
	// Lock the directory before calling begin, which kills the tasks of the former holder. Because of the lock,
	// no other holder is alive then.
	if m.lock, err = lock(dir); err != nil {
		return nil, err
	}
	if err := m.begin(filepath.Join(dir, "logs")); err != nil {
		m.lock.Release()
		return nil, err
	}
	return m, nil
}

func (m *Machine) begin(logs string) (err error) {
	if os.Getuid() == 0 && !m.options.AnyUser {
		if err := passable(m.scripts); err != nil {
			m.log.Warn("only root's scripts can run", "error", err)
		}
	}
	if n, err := process.KillSurvivors(m.mark); err != nil {
		return fmt.Errorf("tasks of an earlier agent: %w", err)
	} else if n > 0 {
		m.log.Warn("killed the tasks of an earlier agent", "processes", n)
	}
	// No task of an earlier agent has a GPU any more, so all GPUs are free.
	m.gpus = gpu.NewPool(m.options.GPUs)
	if m.logs, err = process.OpenLogs(logs); err != nil {
		return fmt.Errorf("directory for output: %w", err)
	}
	m.runner, err = process.NewRunner()
	return err
}

// lock locks a directory for one agent.
func lock(dir string) (*filelock.Lock, error) {
	l, err := filelock.Take(filepath.Join(dir, "lock"))
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("directory %s: %w; stop that one first, or give this one another name with --name or, for "+
			"fairlead work, another directory with --dir", dir, err)
	}
	return l, err
}
