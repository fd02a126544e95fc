// Package agent offers a machine to a server and runs tasks on it as processes. It asks for work, starts the
// tasks that it gets, renews the leases of running tasks, and reports how they ended. If it cannot renew the
// lease of a task in time, and the server may then give the task to another agent, it kills the task.
// Package process runs the processes.
package agent

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/process"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// Agent runs tasks.
type Agent struct {
	*Machine
	mu       sync.Mutex
	session  string
	ttl      time.Duration
	tasks    map[queue.Ref]*task
	ack      []queue.Ref
	finished []api.Finished
	release  []given
	draining bool
	renewNow bool
	sole     bool // the server says that no other server uses the store
	// drainReported means that this session has reported to the server that the agent drains.
	drainReported bool

	news chan struct{} // has an element when there is something to report
	due  chan struct{} // has an element when leases must be renewed
	idle chan struct{} // has an element when a task has ended

	server     *wait.Outage // times in which the server cannot be reached
	unreported *wait.Outage // times in which the server answers but refuses reports

	instance  string
	displaced chan struct{} // closed when another agent has taken the name

	begun sync.WaitGroup // tasks and answers about their output; the machine is closed after them
}

// task is an attempt that this agent runs.
type task struct {
	lease   api.Lease
	process *process.Process // nil until the process is started
	stop    *api.Stop        // a stop that came before the process was started
	halted  chan struct{}    // closed when stop is set
	until   time.Time        // end of the lease, by the clock of this machine
	back    bool             // report it as released instead of cancelled: the agent ended it, nobody canceled the task
	foreign bool             // the server does not know it: report nothing about it
}

// given is an attempt that a server gave to the agent.
type given struct {
	queue.Ref
	since time.Time
}

func (t *task) given() given { return given{t.lease.Ref, t.lease.Since} }

// halt stops a task that has not been started. The caller holds the lock.
func (t *task) halt(s api.Stop) {
	if t.stop == nil {
		t.stop = &s
		close(t.halted)
	}
}

// kill ends a task at once. The caller holds the lock.
func (t *task) kill(cause string) {
	t.until = time.Time{}
	if t.process != nil {
		t.process.Kill(cause, queue.Cancelled)
	} else {
		t.halt(api.Stop{Ref: t.lease.Ref, Cause: cause})
	}
}

func (a *Agent) wakeReporter() {
	wait.Wake(a.news)
}

func (a *Agent) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.tasks)
}
