package history

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"golang.org/x/sync/semaphore"
)

// Recorder records the values of an engine's pools over time, and reads the records. Every server records; one of the
// servers that share a store writes the records there.
type Recorder struct {
	loop *engine.Loop

	mu    sync.Mutex
	steps []heldStep // by time; the last is the current one

	// moving works like a lock for readers and a writer. The goroutine that moves steps from here to the store takes
	// its whole weight, and a reader of both places takes 1. Otherwise a reader could miss a step at both places.
	moving *semaphore.Weighted

	// The last sample, by the number of the pool in the account of fairness. Only one goroutine uses it.
	at   time.Time
	seen []poolLook

	written time.Time // the last attempt to write
	writes  bool      // whether this server writes
}

// New returns a recorder for an engine. It records nothing before [Recorder.Keep].
func New(loop *engine.Loop) *Recorder {
	return &Recorder{loop: loop, moving: semaphore.NewWeighted(historyReaders)}
}

// heldStep is one step of all pools.
type heldStep struct {
	at    time.Time
	pools map[string]*queue.HistoryStep
}

// poolLook is a sample of a pool.
type poolLook struct {
	path            string
	busy            bool
	ideal, received float64 // slot-seconds since the account began
	now             queue.HistoryStep

	// A changed share of a configured pool is recorded even if the pool has no work. The field reported is the share
	// that was recorded last. After a change, the share is recorded until a whole step has it, because readers
	// assume that a pool keeps the values of its last step.
	changed  bool
	reported float64
	telling  time.Time
}

// How the history of the pools is recorded. Sampling all of them takes at most a hundredth of the time.
const (
	historyLook = 2 * time.Second  // between two samples
	historyGap  = 30 * time.Second // the values in a longer gap are unknown
	historyHeld = 10 * time.Minute // for how long steps are held while the database is unavailable
	historyMax  = 5000             // pools in one step
	historyRows = 250              // pools in one transaction
)

// historyReaders is the maximum number of simultaneous readers of the history.
const historyReaders = 1000
