package agent

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/queue"
)

// Perform runs a task to its end. When ctx ends, it stops the task, and the outcome has context.Cause(ctx) as its
// cause.
func (m *Machine) Perform(ctx context.Context, l *api.Lease) queue.Outcome {
	p, err := m.launch(l, nil)
	defer m.removeScript(l)
	if err != nil {
		m.log.Warn("a task could not be started", "task", l.Ref, "error", err)
		return unstarted(err)
	}
	stop := context.AfterFunc(ctx, func() { p.Stop(context.Cause(ctx).Error(), queue.Cancelled) })
	defer stop()
	return p.Wait()
}

// launch starts the process of a task.
func (m *Machine) launch(l *api.Lease, gpus []gpu.Device) (*process.Process, error) {
	u, err := m.user(l.User)
	if err != nil {
		return nil, err
	}
	log, err := m.logs.Create(l.JobID, l.Task, l.Attempt)
	if err != nil {
		return nil, &process.MachineError{Err: fmt.Errorf("output: %w", err)}
	}
	defer log.Close()
	argv := l.Job.Argv
	if l.Job.Script {
		if argv, err = m.writeScript(l, u); err != nil {
			return nil, &process.MachineError{Err: err}
		}
	}
	return m.runner.Start(process.Spec{
		Argv: argv, Env: m.environment(l, u, gpus), Dir: u.directory(l.Job.Dir),
		Stdout: m.fileName(l.Job.Output, l), Stderr: m.fileName(l.Job.Error, l), Log: log,
		As: u.as, Limit: time.Duration(l.Job.LimitSeconds * float64(time.Second)),
		Mark: fmt.Sprintf("%s%d/%d/%d", m.mark, l.JobID, l.Task, l.Attempt),
	})
}

// fileName expands the name of an output file. For the job, %j and %A stand for its id, %x for its name, and %u
// for its user. %a stands for the task's number in the array, and %N for the node. If a job has an array or a
// gang and its pattern has no %a, the tasks would overwrite one another's file, so fileName appends the task's
// number. It appends nothing to the name of a device.
func (m *Machine) fileName(pattern string, l *api.Lease) string {
	if pattern == "" {
		return ""
	}
	if (l.Job.Array != "" || l.Job.Gang > 1) && !strings.Contains(strings.ReplaceAll(pattern, "%%", ""), "%a") &&
		!strings.HasPrefix(pattern, "/dev/") {
		pattern += ".%a"
	}
	plain := func(name string) string { return strings.ReplaceAll(name, "/", "_") }
	return strings.NewReplacer(
		"%%", "%", "%j", fmt.Sprint(l.JobID), "%A", fmt.Sprint(l.JobID), "%a", fmt.Sprint(l.Number),
		"%x", plain(cmp.Or(l.Job.Name, "job")), "%u", l.User, "%N", plain(m.options.Name),
	).Replace(pattern)
}
