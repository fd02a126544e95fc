package engine

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/poolnames"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/why"
)

// State has the knowledge of a loop at an instant: the core, running tasks, workers, other servers, and the
// overrides of administrators. Only [Loop.Read] and [Loop.Update] lead to it, and hold its lock
// meanwhile: no function may keep the state, or a part of it that changes, when it returns.
//
// Locks are taken in this order: peers.sending, syncing, ending, finisher.refusing, changer.changing,
// those of a cache of a reader, and the state's last.
type State struct {
	Core    *sched.Scheduler
	Shares  allocation.Config
	Runs    runs
	Joined  map[string]*joinedNode
	InForce inForce
	Mended  mended
	Faults  faults            // of nodes that begin nothing
	dirty   bool              // the core has to be made anew
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
	touched bool   // something has changed since the version was counted
	woken   bool   // the loop has something to do
	reading bool   // whoever has the state may not change it
}

// newState is what a loop knows before it has asked its store.
func newState(store queue.Store, shares allocation.Config) State {
	return State{
		Shares: shares, Runs: runs{}, Joined: map[string]*joinedNode{},
		InForce: newInForce(), Mended: mended{}, Faults: faults{},
		Others: newOthers(store), changed: map[string]bool{},
	}
}

// touch notes that the state has changed: there is a new version.
func (s *State) touch() {
	s.mustChange()
	s.touched = true
}

// wakeUp has the loop take a turn.
func (s *State) wakeUp() {
	s.mustChange()
	s.woken = true
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

// Read lets f look at the state.
func (g *guarded) Read(f func(*State)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.reading = true
	defer func() { g.state.reading = false }()
	f(&g.state)
}

// Update lets f change the state. What it has touched is a new version, and the loop takes a turn
// if f says so.
func (g *guarded) Update(f func(*State)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.count()
	f(&g.state)
}

// With is the state with a fork in place of the core, for as long as the state itself may be used.
func (s *State) With(fork *sched.Scheduler) *State {
	other := *s
	other.Core = fork
	return &other
}

// count ends an update.
func (g *guarded) count() {
	if g.state.touched {
		g.state.Version++
	}
	if g.state.woken {
		g.poke()
	}
	g.state.touched, g.state.woken = false, false
}

// poke wakes the loop.
func (g *guarded) poke() {
	wait.Wake(g.wake)
}

// LoopOptions are the settings of a loop. The zero value is usable.
type LoopOptions struct {
	Shares allocation.Config // default: DefaultShares
	Seed   uint64            // of the policies that draw lots
	// LeaseTTL is for how long a task is leased. Workers renew in time; a worker that
	// is silent for longer is taken for lost. Default: a minute.
	LeaseTTL time.Duration
	// Batch bounds the tasks that are leased in one transaction. Default: 500.
	Batch  int
	Logger *slog.Logger // default: discards
	// Name tells this server from others that share its store, see [queue.Peers]. Default: the name
	// of the host with the number of the process.
	Name string
	// Address is where clients reach it, as the others tell them.
	Address string
	// Changed is called when another server has changed settings of the program, with their
	// keys; see [queue.Settings]. It must not block.
	Changed func(keys []string)
}

// base is what the parts of a loop share, and hold by pointer: none of them needs the loop itself.
type base struct {
	Store    queue.Store
	Options  LoopOptions
	Log      *slog.Logger
	Observer Observer // set before the loop runs
	guarded

	syncing sync.Mutex   // held while changes of the store are read and applied, or leases made or ended
	ending  sync.RWMutex // held for reading while attempts are ended, else while the core is made anew

	watchers watchers
	outages  outages

	Made      time.Time
	restarted bool // the store held something before; set before the loop runs
}

func newBase(store queue.Store, o LoopOptions) *base {
	return &base{
		Store: store, Options: o, Log: o.Logger, Observer: unobserved{}, Made: time.Now(),
		guarded: guarded{wake: make(chan struct{}, 1), state: newState(store, o.Shares)},
	}
}

// read and its like read or update the state, and return what f does. They are functions of the
// base, and not of an interface, so that f needs no memory.
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

// Observer hears what a loop does, for those who measure or trace it. It is called while the
// loop holds its locks: it must not wait, and not call the loop.
type Observer interface {
	// Stepped says how long a scheduling step took, without the store.
	Stepped(took time.Duration)
	// Stored says how long the store took to lease or finish, as call says.
	Stored(call string, took time.Duration)
	// Began says that a task was leased. It may put another job into the lease, with more
	// variables for the task.
	Began(b Begun)
	// BeganThere says that a task began that waited in another queueing system since it was
	// leased, of a job that might have started since an instant.
	BeganThere(r queue.Run, h queue.Header, since time.Time)
	// Ended says that an attempt is over, as its worker reported it.
	Ended(r queue.Result)
	// Lost says that the lease of an attempt ran out, or that its worker is gone.
	Lost(ref queue.Ref)
	// WaitsFor says that jobs of a pool began to wait for something, by its reason code.
	WaitsFor(code why.Code)
}

// Begun is a task that was leased.
type Begun struct {
	Lease *queue.Lease
	Node  string
	// Queued: it has not begun, but waits in another queueing system.
	Queued bool
	// Choice returns the comparisons that chose the task, from the root down. It is to be
	// called before Began returns, or not at all.
	Choice func() []why.Level
}

// unobserved is nobody.
type unobserved struct{}

func (unobserved) Stepped(time.Duration) {}

func (unobserved) Stored(string, time.Duration) {}

func (unobserved) Began(Begun) {}

func (unobserved) BeganThere(queue.Run, queue.Header, time.Time) {}

func (unobserved) Ended(queue.Result) {}

func (unobserved) Lost(queue.Ref) {}

func (unobserved) WaitsFor(why.Code) {}

// watchers passes events on to those who watch. Nobody can hold the loop up: a
// watcher that does not keep up misses events, and is told how many.
type watchers struct {
	mu  sync.Mutex
	all map[*Watch]bool
}

// Watch receives what happens from now on.
type Watch struct {
	// C carries the events. An event with the code "missed" stands for events that did
	// not fit.
	C      chan queue.Event
	missed int
	from   *watchers
}

// watchBuffer is how far a watcher may be behind.
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

// startedEvent tells of a task that began, or went into another queueing system.
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

// eventOf is a change as watchers see it.
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
