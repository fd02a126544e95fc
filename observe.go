package fairlead

import (
	"time"

	"github.com/fairlead/fairlead/why"
)

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
	BeganThere(r Run, h Header, since time.Time)
	// Ended says that an attempt is over, as its worker reported it.
	Ended(r Result)
	// Lost says that the lease of an attempt ran out, or that its worker is gone.
	Lost(ref Ref)
	// WaitsFor says that jobs of a pool began to wait for something, by its reason code.
	WaitsFor(code why.Code)
}

// Begun is a task that was leased.
type Begun struct {
	Lease *Lease
	Node  string
	// Queued: it has not begun, but waits in another queueing system.
	Queued bool
	// Choice tells the comparisons by which it was chosen, from the root down. It is to be
	// called before Began returns, or not at all.
	Choice func() []why.Level
}

// Observe lets an observer hear what the loop does from now on, in place of the one before. It
// is to be called before [Loop.Run].
func (l *Loop) Observe(o Observer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observer = o
}

// unobserved is nobody.
type unobserved struct{}

func (unobserved) Stepped(time.Duration)             {}
func (unobserved) Stored(string, time.Duration)      {}
func (unobserved) Began(Begun)                       {}
func (unobserved) BeganThere(Run, Header, time.Time) {}
func (unobserved) Ended(Result)                      {}
func (unobserved) Lost(Ref)                          {}
func (unobserved) WaitsFor(why.Code)                 {}
