// Package daemon runs the servers that tests need, as child processes. They end with the test, however
// the test ends.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Daemon is a server that runs, or has ended.
type Daemon struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // how it ended; read it only after ended is closed
}

// Start starts a command that stays in the foreground. When this process ends, however that happens, the
// command receives the given signal.
func Start(cmd *exec.Cmd, end syscall.Signal) (*Daemon, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = end
	d := &Daemon{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel sends the signal when the thread that forked ends
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			d.err = cmd.Wait()
			close(d.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return d, nil
}

// Alive reports whether the daemon runs.
func (d *Daemon) Alive() bool {
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// Send sends a signal after which the daemon continues.
func (d *Daemon) Send(s syscall.Signal) error { return d.cmd.Process.Signal(s) }

// Signal sends a signal and waits for the end. It kills a daemon that does not end in time.
func (d *Daemon) Signal(s syscall.Signal, within time.Duration) {
	d.cmd.Process.Signal(s)
	select {
	case <-d.ended:
	case <-time.After(within):
		d.cmd.Process.Kill()
		<-d.ended
	}
}

// Await calls ready until it returns nil. It gives up when the daemon ends, or after the given time.
func (d *Daemon) Await(within time.Duration, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-d.ended:
			return fmt.Errorf("it ended: %w", errors.Join(d.err, err))
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
