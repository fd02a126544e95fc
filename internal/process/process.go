//go:build linux

package process

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/queue"
)

// Process is a task that was started. Any goroutine may call its methods at any time; a method that ends the
// task does nothing once it has ended.
type Process struct {
	orphans *orphans
	gone    func(*Process) // called just before done is closed
	pid     int            // also the number of its session and process group
	mark    string
	grace   time.Duration
	done    chan struct{} // closed when result is set
	killed  chan struct{} // closed when SIGKILL was sent
	limit   *time.Timer   // nil without a limit
	memory  *peak         // largest memory seen
	began   time.Time
	result  queue.Outcome // valid when done is closed

	mu     sync.Mutex
	why    *verdict // who ended it, and why; nil: nobody yet
	reaped bool     // the first process is gone; others of its group may be left
	over   bool     // nothing may be signaled any more
	end    *time.Timer
}

// verdict is the cause and the state that the caller of Stop or Kill gave.
type verdict struct {
	cause string
	state queue.State
}

// newProcess starts the time limit of a process that has just been forked. The function "gone" is called with the
// process when the process has ended.
func newProcess(pid int, spec *Spec, o *orphans, gone func(*Process)) *Process {
	p := &Process{
		orphans: o,
		gone:    gone,
		pid:     pid,
		mark:    spec.Mark,
		grace:   cmp.Or(spec.Grace, defaultGrace),
		done:    make(chan struct{}),
		killed:  make(chan struct{}),
		memory:  watchMemory(pid),
		began:   time.Now(),
	}
	if spec.Limit > 0 {
		cause := fmt.Sprintf("time limit of %v", spec.Limit)
		p.limit = time.AfterFunc(spec.Limit, func() { p.Stop(cause, queue.Failed) })
	}
	return p
}

// Wait returns the outcome when the process has ended and nothing of the task is left that could write output
// or use its resources.
func (p *Process) Wait() queue.Outcome {
	<-p.done
	return p.result
}

// Stop sends SIGTERM to the whole process group, and kills the rest of it after the grace. The outcome then
// has this state and cause, however the process reacts. The first cause counts; a second call changes
// nothing.
func (p *Process) Stop(cause string, state queue.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil || p.ended() {
		return
	}
	p.why = &verdict{cause, state}
	p.signal(unix.SIGTERM)
	p.signal(unix.SIGCONT) // a suspended process would not react
	p.end = time.AfterFunc(p.grace, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.kill()
	})
}

// Kill kills the whole process group at once, even a group that is being stopped; the first cause counts.
func (p *Process) Kill(cause string, state queue.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		if p.ended() {
			return
		}
		p.why = &verdict{cause, state}
	}
	p.kill()
}

// ended reports whether the first process has ended by itself, even if nobody has noticed yet. A time limit
// that is reached just after a success must not turn this success into a failure.
func (p *Process) ended() bool { return p.reaped || exited(p.pid) }

// kill sends SIGKILL to the group.
func (p *Process) kill() {
	p.signal(unix.SIGKILL)
	select {
	case <-p.killed:
	default:
		close(p.killed)
	}
}

// signal sends a signal to the rest of the group.
func (p *Process) signal(s unix.Signal) {
	if !p.over && p.ours() {
		unix.Kill(-p.pid, s)
	}
}

// ours reports whether the number still means our group. It does until the first process has been reaped.
// Afterwards the kernel does not reuse the number while the group has members. So if a process has this
// number, the group has no members left.
func (p *Process) ours() bool {
	return !p.reaped || unix.Kill(p.pid, 0) == unix.ESRCH
}

// run waits for the end of the process, and cleans up after it.
func (p *Process) run(pidfd int) {
	awaitExit(p.pid, pidfd)
	p.mu.Lock()
	if p.why == nil {
		// Kill everything that the task left running. Until the first process is reaped, its number cannot
		// mean another group.
		p.kill()
	}
	p.memory.stop()
	status, usage, err := reap(p.pid)
	p.reaped = true
	p.mu.Unlock()
	p.awaitGroup()
	p.orphans.end(p.mark)
	p.finish(status, usage, err)
}

// awaitGroup waits until the group is empty. If the process was stopped, its group still has the grace: a
// shell dies of SIGTERM at once, but the program that it ran may be saving its work. The kernel does not
// signal that a group becomes empty, so awaitGroup polls.
func (p *Process) awaitGroup() {
	killed := p.killed
	var enough <-chan time.Time
	for pause := time.Millisecond; p.groupLives(); pause = min(2*pause, 50*time.Millisecond) {
		select {
		case <-killed:
			killed, enough, pause = nil, time.After(goesWithin), time.Millisecond
		case <-enough:
			return
		case <-time.After(pause):
		}
	}
}

// groupLives reports whether the group has members, except orphans that only need reaping.
func (p *Process) groupLives() bool {
	members := func() bool { return p.ours() && unix.Kill(-p.pid, 0) != unix.ESRCH }
	if !members() {
		return false
	}
	p.orphans.sweep("", nil)
	return members()
}

// finish sets the outcome and releases the process.
func (p *Process) finish(status unix.WaitStatus, usage *unix.Rusage, err error) {
	p.mu.Lock()
	p.over = true
	for _, t := range []*time.Timer{p.limit, p.end} {
		if t != nil {
			t.Stop()
		}
	}
	p.result = outcome(status, p.why)
	if err != nil {
		p.result = queue.Outcome{State: queue.Failed, Cause: fmt.Sprintf("it is unknown how it ended: %v", err)}
	}
	p.mu.Unlock()
	p.result.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	p.result.MaxRSS = p.memory.largest(int64(usage.Maxrss) * 1024)
	p.gone(p)
	close(p.done)
}

// outcome combines the exit status with the verdict, if there is one.
func outcome(status unix.WaitStatus, why *verdict) queue.Outcome {
	o := queue.Outcome{State: queue.Failed}
	switch {
	case status.Signaled():
		o.Signal = unix.SignalName(status.Signal())
	case status.ExitStatus() != 0:
		o.ExitCode = status.ExitStatus()
	default:
		o.State = queue.Succeeded
	}
	if why != nil {
		o.State, o.Cause = why.state, why.cause
	}
	return o
}
