package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/fairlead/fairlead/internal/filelock"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Machine runs tasks as processes, for an agent or for a worker of a foreign queue. No other process uses its
// directory. Its methods may be called from several goroutines.
type Machine struct {
	options Options
	log     *slog.Logger
	runner  *process.Runner
	logs    *process.Logs
	dir     string
	scripts string
	mark    string
	lock    *filelock.Lock // on the directory
	gpus    *gpu.Pool
}

// Close kills the tasks that still run, and unlocks the directory for the next agent when they have ended.
func (m *Machine) Close() {
	m.runner.Close()
	m.logs.Close()
	m.lock.Release()
}

// Tail returns the end of a task's output, at most limit bytes.
func (m *Machine) Tail(ref queue.Ref, limit int) []byte {
	x, err := m.logs.ReadAt(ref.JobID, ref.Task, ref.Attempt, -int64(limit), limit)
	if err != nil {
		return nil
	}
	return x.Data
}

// Clean removes output older than 30 days once an hour, until ctx ends.
func (m *Machine) Clean(ctx context.Context) {
	const kept = 30 * 24 * time.Hour
	for wait.For(ctx, time.Hour) {
		if n, err := m.logs.Remove(time.Now().Add(-kept)); err != nil {
			m.log.Warn("old output could not be removed", "error", err)
		} else if n > 0 {
			m.log.Info("removed old output", "files", n)
		}
	}
}
