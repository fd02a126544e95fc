package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/filelock"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/process"
)

// Machine is what runs tasks as processes, whoever asks for them: an agent, or a worker of a
// queue that is not ours. It has the directory to itself. Its methods may be called from
// several goroutines.
type Machine struct {
	options Options
	log     *slog.Logger
	runner  *process.Runner
	logs    *process.Logs
	scripts string
	mark    string
	lock    *filelock.Lock // on the directory
	gpus    *gpu.Pool
}

// OpenMachine takes the directory, and kills what an earlier holder left running.
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
		options: o, log: o.Logger,
		// The mark tells the tasks of this machine from those of others with the same name.
		mark: fmt.Sprintf("%x/%s/", sha256.Sum256([]byte(dir)), o.Name)[56:],
	}
	// The scripts' directory comes first: those above it that are made with it can be
	// passed by others, those made for the output could not.
	if m.scripts, err = scriptDir(dir); err != nil {
		return nil, err
	}
	// First of all: the tasks of whoever has the directory are killed, as nobody else is there.
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
		return fmt.Errorf("tasks that an earlier agent left: %w", err)
	} else if n > 0 {
		m.log.Warn("killed what an earlier agent left", "processes", n)
	}
	// So nothing has a GPU now: all of them can be handed out.
	m.gpus = gpu.NewPool(m.options.GPUs)
	if m.logs, err = process.OpenLogs(logs); err != nil {
		return fmt.Errorf("directory for output: %w", err)
	}
	m.runner, err = process.NewRunner()
	return err
}

// lock keeps a directory to one agent.
func lock(dir string) (*filelock.Lock, error) {
	l, err := filelock.Take(filepath.Join(dir, "lock"))
	var held *filelock.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("directory %s: %w; stop that one first, or give this one another name with --name, or with work another directory with --dir", dir, err)
	}
	return l, err
}

// Close kills what still runs, and gives the directory back.
func (m *Machine) Close() {
	m.lock.Release()
	m.runner.Close()
	m.logs.Close()
}

// Perform runs a task to its end. When ctx ends, the task is stopped, with the cause of that.
func (m *Machine) Perform(ctx context.Context, l *api.Lease) fairlead.Outcome {
	p, err := m.launch(l, nil)
	defer m.removeScript(l)
	if err != nil {
		m.log.Warn("a task could not be started", "task", l.Ref, "error", err)
		return unstarted(err)
	}
	stop := context.AfterFunc(ctx, func() { p.Stop(context.Cause(ctx).Error(), fairlead.Cancelled) })
	defer stop()
	return p.Wait()
}

// unstarted is how a task ended that could not be started.
func unstarted(err error) fairlead.Outcome {
	return fairlead.Outcome{State: fairlead.Failed, ExitCode: -1, Cause: "could not be started: " + err.Error()}
}

// Tail is the end of a task's output, at most limit bytes.
func (m *Machine) Tail(ref fairlead.Ref, limit int) []byte {
	_, size, err := m.logs.ReadAt(ref.JobID, ref.Task, ref.Attempt, 0, 0)
	if err != nil {
		return nil
	}
	text, _, err := m.logs.ReadAt(ref.JobID, ref.Task, ref.Attempt, max(0, size-int64(limit)), limit)
	if err != nil {
		return nil
	}
	return text
}

// Clean removes old output once an hour, until ctx ends.
func (m *Machine) Clean(ctx context.Context) {
	const kept = 30 * 24 * time.Hour
	for sleep(ctx, time.Hour) {
		if n, err := m.logs.Remove(time.Now().Add(-kept)); err != nil {
			m.log.Warn("old output could not be removed", "error", err)
		} else if n > 0 {
			m.log.Info("removed old output", "files", n)
		}
	}
}

// launch starts the process of a task.
func (m *Machine) launch(l *api.Lease, gpus []gpu.Device) (*process.Process, error) {
	u, err := m.user(l.User)
	if err != nil {
		return nil, err
	}
	log, err := m.logs.Create(l.JobID, l.Task, l.Attempt)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	defer log.Close()
	argv := l.Job.Argv
	if l.Job.Script {
		if argv, err = m.writeScript(l, u); err != nil {
			return nil, err
		}
	}
	return m.runner.Start(process.Spec{
		Argv: argv, Env: m.environment(l, u, gpus), Dir: u.directory(l.Job.Dir),
		Stdout: m.fileName(l.Job.Output, l), Stderr: m.fileName(l.Job.Error, l), Log: log,
		As: u.as, Limit: time.Duration(l.Job.LimitSeconds * float64(time.Second)),
		Mark: fmt.Sprintf("%s%d/%d/%d", m.mark, l.JobID, l.Task, l.Attempt),
	})
}
