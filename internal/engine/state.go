package engine

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/ends"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// State is the knowledge of an engine at an instant: the core, running tasks, workers, other servers, and the overrides
// of administrators. Only [Loop.Read] and [Loop.Update] give access to it, and hold its lock meanwhile: no function may
// keep the state, or a mutable part of it, after it returns.
//
// Locks are taken in this order: peers.sending, syncing, ending, finisher.refusing, changer.changing, those of a
// reader's cache, and last the state's.
type State struct {
	Core    *sched.Scheduler
	Shares  allocation.Config
	Runs    runs
	Joined  map[string]*joinedNode
	InForce inForce
	Mended  mended
	Faults  faults            // of nodes that begin nothing
	Ends    ends.Tally        // how attempts ended
	dirty   bool              // the core must be rebuilt
	names   *poolnames.Report // pools that were renamed in the store; nil: none
	Decided decisions
	Others  others
	changed map[string]bool // keys of settings that others changed

	stats     Stats
	trouble   trouble
	Fairness  fairness
	Arrivals  arrivals
	Lengths   Lengths
	beats     beats
	Past      pasts
	Limits    limitPasts
	recounted Recounted

	Version uint64 // counts changes of the state
	signals signals
	reading bool // under Read: the state may not be changed
}

// signals tell the lock which actions are due when it is released.
type signals struct {
	touched bool // the state has changed since the version was counted
	woken   bool // the engine has work to do
}

// newState returns the state of an engine that has not read its store yet.
func newState(store queue.Store, shares allocation.Config) State {
	return State{
		Shares: shares, Runs: runs{}, Joined: map[string]*joinedNode{},
		InForce: newInForce(), Mended: mended{}, Faults: noFaults(),
		Others: newOthers(store), changed: map[string]bool{},
	}
}

// touch marks the state as changed, so that it gets a new version.
func (s *State) touch() {
	s.mustChange()
	s.signals.touched = true
}

// wakeUp makes the engine take a turn.
func (s *State) wakeUp() {
	s.mustChange()
	s.signals.woken = true
}

func (s *State) mustChange() {
	if s.reading {
		panic("engine: a reader changes the state")
	}
}

// guarded is a state with its lock.
type guarded struct {
	mu    sync.Mutex
	state State
	wake  chan struct{}
}

// Read calls f, which may read the state.
func (g *guarded) Read(f func(*State)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.reading = true
	defer func() { g.state.reading = false }()
	f(&g.state)
}

// Update calls f, which may change the state. If f touches the state there is a new version; if f wakes the engine, the
// engine takes a turn.
func (g *guarded) Update(f func(*State)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.count()
	f(&g.state)
}

// With returns the state with a fork in place of the core. It is valid as long as the state itself.
func (s *State) With(fork *sched.Scheduler) *State {
	other := *s
	other.Core = fork
	return &other
}

// count counts the version at the end of an update.
func (g *guarded) count() {
	if g.state.signals.touched {
		g.state.Version++
	}
	if g.state.signals.woken {
		g.poke()
	}
	g.state.signals = signals{}
}

// poke wakes the engine.
func (g *guarded) poke() {
	wait.Wake(g.wake)
}

// LoopOptions are the settings of an engine. The zero value is usable.
type LoopOptions struct {
	Shares allocation.Config // default: DefaultShares
	Seed   uint64            // for policies that draw lots
	// LeaseTTL is how long a lease lasts. Workers renew their leases in time; a worker that is silent for longer counts
	// as lost. Default: a minute.
	LeaseTTL time.Duration
	// Batch bounds the tasks that are leased in one transaction. Default: 500.
	Batch  int
	Logger *slog.Logger // default: discards
	// Name identifies this server among the servers of its store, see [queue.Peers]. Default: the host name with the
	// process number.
	Name string
	// Address is where clients reach this server, for the other servers to pass on.
	Address string
	// Changed is called when another server has changed settings of the program, with their keys; see [queue.Settings].
	// It must not block.
	Changed func(keys []string)
}

// base is shared by pointer between the parts of an engine: none of them needs the engine itself.
type base struct {
	Store    queue.Store
	Options  LoopOptions
	Log      *slog.Logger
	Observer Observer // set before the loop runs
	guarded

	syncing turnstile    // held while changes of the store are read and applied, or leases made or ended
	ending  sync.RWMutex // read-locked while attempts are ended, write-locked while the core is rebuilt

	watchers watchers
	outages  outages
	silences outages // the store did not answer in the time that a view waits

	Made      time.Time
	restarted bool // the store held data before; set before the engine runs
}

func newBase(store queue.Store, o LoopOptions) *base {
	return &base{
		Store: store, Options: o, Log: o.Logger, Observer: unobserved{}, Made: time.Now(),
		guarded: guarded{wake: make(chan struct{}, 1), state: newState(store, o.Shares)}, syncing: newTurnstile(),
	}
}

// read and its variants read or update the state, and return the results of f. They take the base instead of an
// interface, so that f does not escape to the heap.
func read[A any](b *base, f func(*State) A) (a A) {
	b.Read(func(s *State) { a = f(s) })
	return a
}

func read2[A, B any](b *base, f func(*State) (A, B)) (a A, c B) {
	b.Read(func(s *State) { a, c = f(s) })
	return a, c
}

func update1[A any](b *base, f func(*State) A) (a A) {
	b.Update(func(s *State) { a = f(s) })
	return a
}

func update2[A, B any](b *base, f func(*State) (A, B)) (a A, c B) {
	b.Update(func(s *State) { a, c = f(s) })
	return a, c
}

// Observer receives events of an engine, to measure or trace it. The engine calls it while holding its locks: it must
// not block, and must not call the engine.
type Observer interface {
	// Stepped reports how long a scheduling step took, without the store.
	Stepped(took time.Duration)
	// Stored reports how long a call of the store took: the call "lease" or "finish".
	Stored(call string, took time.Duration)
	// Began reports a leased task. It may replace the job in the lease by one with more variables for the task.
	Began(b Begun)
	// BeganThere reports that a task began after it had waited in another queueing system since its lease. The argument
	// since is the instant from which its job might have started.
	BeganThere(r queue.Run, h queue.Header, since time.Time)
	// Ended reports that an attempt is over, with its worker's result.
	Ended(r queue.Result)
	// Lost reports that the lease of an attempt ran out, or that its worker is gone.
	Lost(ref queue.Ref)
	// WaitsFor reports that jobs of a pool began to wait for something, by its reason code.
	WaitsFor(code why.Code)
}

// Begun is a task that was leased.
type Begun struct {
	Lease *queue.Lease
	Node  string
	// Queued: it has not begun, but waits in another queueing system.
	Queued bool
	// Choice returns the comparisons that chose the task, from the root down. Call it only before Began returns.
	Choice func() []why.Level
}

// unobserved is an Observer that does nothing.
type unobserved struct{}

func (unobserved) Stepped(time.Duration) {}

func (unobserved) Stored(string, time.Duration) {}

func (unobserved) Began(Begun) {}

func (unobserved) BeganThere(queue.Run, queue.Header, time.Time) {}

func (unobserved) Ended(queue.Result) {}

func (unobserved) Lost(queue.Ref) {}

func (unobserved) WaitsFor(why.Code) {}

// watchers passes events on to all watchers. No watcher can delay the engine: a slow watcher misses events, and learns
// how many.
type watchers struct {
	mu  sync.Mutex
	all map[*Watch]bool
}

// Watch receives events from now on.
type Watch struct {
	// C carries the events. An event with the code "missed" stands for events that did not fit.
	C      chan queue.Event
	missed int
	from   *watchers
}

// watchBuffer is the number of events that a watcher may be behind.
const watchBuffer = 1024

// Close ends a watch.
func (w *Watch) Close() {
	w.from.mu.Lock()
	defer w.from.mu.Unlock()
	delete(w.from.all, w)
}

func (ws *watchers) publish(e queue.Event) {
	if e.Code == "" {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		w.send(e)
	}
}

func (w *Watch) send(e queue.Event) {
	if w.missed > 0 {
		select {
		case w.C <- queue.Event{Code: "missed", At: e.At, Text: fmt.Sprintf("%d events", w.missed)}:
			w.missed = 0
		default:
			w.missed++
			return
		}
	}
	select {
	case w.C <- e:
	default:
		w.missed++
	}
}

// startedEvent returns the event of a task that began, or went into another queueing system.
func startedEvent(r queue.Run, h queue.Header) queue.Event {
	if r.Queued {
		return queue.Event{
			Job: r.JobID, Task: r.Task, At: r.Started, Code: "queued", Text: fmt.Sprintf("attempt %d, through %s", r.Attempt, r.Holder),
			User: h.User, Pool: h.Pool, State: queue.Queued,
		}
	}
	return queue.Event{
		Job: r.JobID, Task: r.Task, At: r.Started, Code: "started", Text: fmt.Sprintf("attempt %d on %s", r.Attempt, r.Holder),
		User: h.User, Pool: h.Pool, State: queue.Running,
	}
}

// eventOf converts a change to an event for watchers.
func eventOf(c queue.Change) queue.Event {
	e := queue.Event{Job: c.Job.ID, Task: -1, At: c.At, User: c.Job.User, Pool: c.Job.Pool, State: c.State, Text: c.Reason}
	switch c.What {
	case queue.Waited:
		e.Code = "waiting"
	case queue.Withdrawn:
		e.Code = "withdrawn"
	case queue.Stop:
		e.Code = "stopping"
	case queue.Lost:
		e.Code = "lost"
	case queue.Done:
		e.Code, e.Text = "ended", string(c.State)
		if c.Reason != "" {
			e.Text += ": " + c.Reason
		}
	}
	return e
}
