//go:build linux

package process

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead/queue"
)

// spawners is the number of threads that fork. The runtime lets only one of them fork at a time, so a second
// thread only hides the time of the hand-over between goroutines and threads. On an idle machine it makes no
// difference in BenchmarkTrue; on a busy one it gives 1.25 times the tasks. A third one adds nothing.
const spawners = 2

// Runner starts processes. All processes are children of threads that belong to the Runner. The reason is
// that the parent-death signal comes when the *thread* that forked ends, and the Go runtime may end its own
// threads at any time. A Runner is safe for concurrent use.
type Runner struct {
	null    *os.File
	orphans *orphans
	forks   chan func()
	end     chan struct{} // closed when the Runner is closed
	work    sync.WaitGroup

	gate   sync.RWMutex // held for reading while a process is being started
	closed bool

	mu      sync.Mutex
	running map[*Process]struct{}
}

// NewRunner returns a Runner. It changes two properties of this process. Tasks do not inherit the files that
// this process inherited, because they have no use for these files. And this process adopts orphans, see
// [orphans].
func NewRunner() (*Runner, error) { return newRunner(spawners) }

func newRunner(threads int) (*Runner, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("start runner: %w", err)
	}
	// Kernels before 5.11 refuse this; files that the runtime opens are marked anyhow.
	_ = unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	r := &Runner{
		null:    null,
		orphans: adoptOrphans(),
		forks:   make(chan func()),
		end:     make(chan struct{}),
		running: map[*Process]struct{}{},
	}
	for range threads {
		ready := make(chan error)
		r.work.Go(func() { ownThread(func() { r.spawn(ready) }) })
		if err := <-ready; err != nil {
			r.Close()
			return nil, fmt.Errorf("start runner: no_new_privs: %w", err)
		}
	}
	r.work.Go(func() { r.orphans.tend(r.end) })
	return r, nil
}

// spawn forks on its thread until the Runner is closed. The thread gives up new privileges once, and its
// children inherit that.
func (r *Runner) spawn(ready chan<- error) {
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	ready <- err
	if err != nil {
		return
	}
	for fork := range r.forks {
		fork()
	}
}

// Start starts the process of the Spec. After an error, which names the mistake in the Spec, nothing runs.
// Otherwise the process ends sooner or later, and Wait returns its outcome.
func (r *Runner) Start(spec Spec) (*Process, error) {
	if err := spec.check(); err != nil {
		return nil, &SpecError{err}
	}
	prepared, err := spec.prepare(r.null)
	if err != nil {
		return nil, blame(err)
	}
	defer prepared.close()
	p, err := r.begin(&spec, prepared)
	return p, blame(err)
}

// begin forks and registers the process, unless the Runner has been closed.
func (r *Runner) begin(spec *Spec, prepared *prepared) (*Process, error) {
	r.gate.RLock()
	defer r.gate.RUnlock()
	if r.closed {
		return nil, errClosed
	}
	pid, pidfd, err := r.fork(spec, prepared)
	if err != nil {
		return nil, spec.explain(err)
	}
	p := newProcess(pid, spec, r.orphans, r.remove)
	r.mu.Lock()
	r.running[p] = struct{}{}
	r.mu.Unlock()
	go p.run(pidfd)
	return p, nil
}

// fork starts the process on a thread of the Runner.
func (r *Runner) fork(spec *Spec, p *prepared) (pid, pidfd int, err error) {
	attr := &syscall.ProcAttr{
		Dir:   spec.directory(),
		Env:   spec.environment(),
		Files: []uintptr{r.null.Fd(), p.stdout.Fd(), p.stderr.Fd()},
		Sys: &syscall.SysProcAttr{
			Setsid:    true,
			Pdeathsig: syscall.SIGKILL,
			PidFD:     &pidfd,
		},
	}
	if id := spec.As; id != nil {
		attr.Sys.Credential = &syscall.Credential{Uid: id.UID, Gid: id.GID, Groups: id.Groups}
	}
	done := make(chan struct{})
	r.forks <- func() {
		pid, err = syscall.ForkExec(p.command, spec.Argv, attr)
		close(done)
	}
	<-done
	return pid, pidfd, err
}

func (r *Runner) remove(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, p)
}

// Close kills the running tasks and ends the threads. Closing a second time does nothing. A caller who wants
// tasks to end by themselves stops them and waits for them before calling Close.
func (r *Runner) Close() {
	r.gate.Lock()
	first := !r.closed
	r.closed = true
	r.gate.Unlock()
	if !first {
		return
	}
	r.mu.Lock()
	left := slices.Collect(maps.Keys(r.running))
	r.mu.Unlock()
	for _, p := range left {
		p.Kill("the agent ended", queue.Cancelled)
	}
	for _, p := range left {
		p.Wait()
	}
	close(r.forks)
	close(r.end)
	r.work.Wait()
	r.null.Close()
}
