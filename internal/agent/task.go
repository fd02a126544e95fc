package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/gpu"
	"github.com/fairlead/fairlead/internal/process"
)

// start begins a task, unless it is known already: a lease is sent again until the
// server knows that it arrived.
func (a *Agent) start(l api.Lease) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ack = append(a.ack, l.Ref)
	if a.tasks[l.Ref] != nil || a.reported(l.Ref) {
		return
	}
	if a.draining {
		a.release = append(a.release, l.Ref)
		a.tell()
		return
	}
	t := &task{lease: l, until: time.Now().Add(a.ttl), halted: make(chan struct{})}
	a.tasks[l.Ref] = t
	go a.run(t)
}

// reported tells whether the end of an attempt waits to be reported.
func (a *Agent) reported(ref fairlead.Ref) bool {
	for _, f := range a.finished {
		if f.Ref == ref {
			return true
		}
	}
	return false
}

// run runs a task to its end.
func (a *Agent) run(t *task) {
	var o fairlead.Outcome
	if gpus, ok := a.takeGPUs(t); ok {
		o = a.perform(t, gpus)
		a.gpus.Give(gpus)
	} else {
		o = fairlead.Outcome{State: fairlead.Cancelled, ExitCode: -1, Cause: t.stop.Cause}
	}
	a.mu.Lock()
	delete(a.tasks, t.lease.Ref)
	o.Cause = bounded(o.Cause)
	if t.back && o.State == fairlead.Cancelled {
		a.release = append(a.release, t.lease.Ref)
	} else {
		a.finished = append(a.finished, api.FromResult(t.lease.Ref, o))
	}
	a.mu.Unlock()
	a.tell()
	select {
	case a.idle <- struct{}{}:
	default:
	}
}

// perform starts the process of a task and waits for its end.
func (a *Agent) perform(t *task, gpus []gpu.Device) fairlead.Outcome {
	p, err := a.launch(t, gpus)
	defer a.removeScript(t)
	if err != nil {
		a.log.Warn("a task could not be started", "task", t.lease.Ref, "error", err)
		return fairlead.Outcome{State: fairlead.Failed, ExitCode: -1, Cause: "could not be started: " + err.Error()}
	}
	a.mu.Lock()
	t.process = p
	if t.stop != nil {
		p.Stop(t.stop.Cause, fairlead.Cancelled)
	}
	a.mu.Unlock()
	return p.Wait()
}

// launch starts the process of a task.
func (a *Agent) launch(t *task, gpus []gpu.Device) (*process.Process, error) {
	l := &t.lease
	u, err := a.user(l.User)
	if err != nil {
		return nil, err
	}
	log, err := a.logs.Create(l.JobID, l.Task, l.Attempt)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	defer log.Close()
	argv := l.Job.Argv
	if l.Job.Script {
		if argv, err = a.writeScript(l, u); err != nil {
			return nil, err
		}
	}
	return a.runner.Start(process.Spec{
		Argv: argv, Env: a.environment(l, u, gpus), Dir: u.directory(l.Job.Dir),
		Stdout: a.fileName(l.Job.Output, l), Stderr: a.fileName(l.Job.Error, l), Log: log,
		As: u.as, Limit: time.Duration(l.Job.LimitSeconds * float64(time.Second)),
		Mark: fmt.Sprintf("%s%d/%d/%d", a.mark, l.JobID, l.Task, l.Attempt),
	})
}

// stop ends a task for the server.
func (a *Agent) stop(s api.Stop) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tasks[s.Ref]
	if t == nil {
		return
	}
	if t.process == nil {
		t.halt(s)
		return
	}
	t.process.Stop(s.Cause, fairlead.Cancelled)
}

// scriptDir makes the directory for scripts. Each is readable by the one user who
// runs it; the directories can be passed through but not listed.
func scriptDir(dir string) (string, error) {
	scripts := filepath.Join(dir, "scripts")
	if err := os.MkdirAll(scripts, 0o711); err != nil {
		return "", fmt.Errorf("directory for scripts: %w", err)
	}
	return scripts, errors.Join(os.Chmod(dir, 0o711), os.Chmod(scripts, 0o711))
}

// passable returns an error for a directory that others cannot reach: none of their
// scripts would start.
func passable(dir string) error {
	for d := dir; d != "/"; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("other users cannot reach %s, where the scripts of their jobs are kept: let them pass with chmod o+x %s, or name another directory", dir, d)
		}
	}
	return nil
}

func (a *Agent) scriptPath(l *api.Lease) string {
	return filepath.Join(a.scripts, fmt.Sprintf("%d_%d.%d", l.JobID, l.Task, l.Attempt))
}

// writeScript puts a job's script into a file and returns the command that runs it: a
// script that does not name its interpreter is one of the shell.
func (a *Agent) writeScript(l *api.Lease, u *account) ([]string, error) {
	path := a.scriptPath(l)
	if err := writeFile(path, l.Job.Payload, u); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	argv := append([]string{path}, l.Job.Argv[1:]...)
	if len(l.Job.Payload) < 2 || string(l.Job.Payload[:2]) != "#!" {
		argv = append([]string{"/bin/sh"}, argv...)
	}
	return argv, nil
}

// writeFile writes a file that only its user may read and run. No process is started
// meanwhile: until it has replaced its program it would hold the file open for writing,
// and the system refuses to run such a file.
func writeFile(path string, text []byte, u *account) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	os.Remove(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o500)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if u.as != nil {
		err = errors.Join(err, f.Chown(int(u.as.UID), int(u.as.GID)))
	}
	return errors.Join(err, f.Close())
}

func (a *Agent) removeScript(t *task) {
	if t.lease.Job.Script {
		os.Remove(a.scriptPath(&t.lease))
	}
}

// answerLog sends a part of a task's output to the server.
func (a *Agent) answerLog(ctx context.Context, r api.LogRequest) {
	reply := a.readLog(r)
	if err := a.options.Client.ReplyLog(ctx, a.options.Name, r.ID, reply); err != nil && ctx.Err() == nil {
		a.log.Warn("output could not be sent", "task", r.Ref, "error", err)
	}
}

func (a *Agent) readLog(r api.LogRequest) api.LogReply {
	offset := r.Offset
	if offset < 0 {
		_, size, err := a.logs.ReadAt(r.JobID, r.Task, r.Attempt, 0, 0)
		if err != nil {
			return logError(err)
		}
		offset = max(0, size+offset)
	}
	data, size, err := a.logs.ReadAt(r.JobID, r.Task, r.Attempt, offset, r.Limit)
	if err != nil {
		return logError(err)
	}
	return api.LogReply{Chunk: api.LogChunk{Data: data, Offset: offset, Size: size}}
}

func logError(err error) api.LogReply {
	if errors.Is(err, fs.ErrNotExist) {
		return api.LogReply{Error: "there is no such output any more"}
	}
	return api.LogReply{Error: err.Error()}
}
