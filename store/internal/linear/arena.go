package linear

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/queue"
)

// Ground is a database whose leases several processes contend for.
type Ground struct {
	Processes int
	Clients   int           // per process
	Grace     time.Duration // grace period of leases when the store is opened; 0: none
	// Open opens the store to submit the jobs, and to read their tasks at the end.
	Open func() (queue.Store, error)
	// Place returns the address for the process whose first client has this number.
	Place func(first int) string
	// Restart kills the database and starts it again; nil: it is part of the processes.
	Restart func() error
	// Gone waits until the database does nothing more for an ended process; nil: it never does.
	Gone func(first int) error
}

// Arena makes processes contend for the leases of the same tasks, and injects faults into them and the database.
type Arena struct {
	t       *testing.T
	rng     *rand.Rand
	ground  Ground
	to      rival // instructions for all processes
	places  []*place
	clients int
	faults  map[string]int
	calls   []*Call
}

// place is a slot for a process, and later for its successor.
type place struct {
	cmd   *exec.Cmd
	done  chan error
	log   string
	first int
}

func newArena(t *testing.T, ground Ground, seed uint64) *Arena {
	return &Arena{
		t: t, rng: rand.New(rand.NewPCG(seed, 0)), ground: ground, faults: map[string]int{},
		to: rival{Seed: seed, Clients: ground.Clients, Grace: ground.Grace},
	}
}

func (a *Arena) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *Arena) start(p *place) {
	a.t.Helper()
	to := a.to
	to.First = a.clients
	a.clients += to.Clients + 1 // one opens the store
	to.Place, to.Log = a.ground.Place(to.First), filepath.Join(a.t.TempDir(), strconv.Itoa(to.First))
	text, err := json.Marshal(to)
	a.must(err)
	p.first, p.log, p.done = to.First, to.Log, make(chan error, 1)
	p.cmd = exec.Command("/proc/self/exe")
	p.cmd.Env = append(os.Environ(), rivalEnv+"="+string(text))
	p.cmd.Stderr = os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	a.must(p.cmd.Start())
	go func(cmd *exec.Cmd, done chan error) { done <- cmd.Wait() }(p.cmd, p.done)
}

// over collects the calls of an ended process. A call without an answer may have taken effect until now, but not later.
func (a *Arena) over(p *place) {
	a.t.Helper()
	if a.ground.Gone != nil {
		a.must(a.ground.Gone(p.first))
	}
	done, at := monotonic(), time.Now()
	calls, err := ReadCalls(p.log)
	a.must(err)
	settled(calls, done, at)
	a.calls = append(a.calls, calls...)
}

// fault injects a fault into a process, or the database.
func (a *Arena) fault() {
	a.t.Helper()
	p := a.places[a.rng.IntN(len(a.places))]
	switch n := a.rng.IntN(8); {
	case n == 0 && a.ground.Restart != nil:
		a.faults["stop-database"]++
		a.must(a.ground.Restart())
	case n < 3:
		a.faults["sigkill"]++
		p.cmd.Process.Kill()
		<-p.done
		a.over(p)
		a.start(p)
	default:
		a.faults["sigstop"]++
		p.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(a.rng.Int64N(int64(2 * rivalTTL))))
		p.cmd.Process.Signal(syscall.SIGCONT)
	}
}

// open uses the store while no process has it open exclusively.
func (a *Arena) open(f func(queue.Store) error) {
	a.t.Helper()
	s, err := a.ground.Open()
	a.must(err)
	defer s.Close()
	a.must(f(s))
}

// begin submits jobs and starts the processes.
func (a *Arena) begin(jobs int) {
	a.t.Helper()
	a.open(func(s queue.Store) (err error) {
		a.to.Jobs, err = Submit(a.t.Context(), s, jobs)
		return err
	})
	a.to.Began = time.Now()
	for range a.ground.Processes {
		p := &place{}
		a.places = append(a.places, p)
		a.start(p)
	}
}

// end waits for the processes, and returns all calls.
func (a *Arena) end() []*Call {
	a.t.Helper()
	for _, p := range a.places {
		a.must(<-p.done)
		a.over(p)
	}
	a.open(func(s queue.Store) error {
		o := a.to.options()
		o.Faults = false
		seen, err := ReadAll(a.t.Context(), s, a.to.Jobs, o)
		a.calls = append(a.calls, seen...)
		return err
	})
	return a.calls
}

// jobsPerSecond is the rate at which the window of jobs advances.
const jobsPerSecond = 2

// record injects faults for a time, and returns the calls of the processes.
func (a *Arena) record(length time.Duration) []*Call {
	a.t.Helper()
	a.to.Length = length
	a.begin(window + int(jobsPerSecond*length/time.Second))
	for time.Since(a.to.Began) < length {
		time.Sleep(time.Duration(a.rng.IntN(400)) * time.Millisecond)
		a.fault()
	}
	return a.end()
}

// The control run has a number of jobs, and each client of each process makes a number of calls for them. It has no
// time limit, so that a slow machine does not make it void.
const (
	controlJobs  = 6
	controlCalls = 480 // in all
)

// control records the calls of clients that bypass the fence. It injects no faults.
func (a *Arena) control() []*Call {
	a.t.Helper()
	a.to.Unfenced = true
	a.to.Steps = controlCalls / (a.ground.Processes * a.ground.Clients)
	a.begin(controlJobs)
	return a.end()
}
