package history

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/queue"
	"golang.org/x/sync/semaphore"
)

// Recorder records how the pools of a loop fare, and reads the records.
// Every server records; one of the servers that share a store writes the records there.
type Recorder struct {
	loop *engine.Loop

	mu    sync.Mutex
	steps []heldStep // by time; the last is still going on

	// moving is held as a whole while steps go from here to the store, and in part while both are
	// read: else a reader could find a step at neither place.
	moving *semaphore.Weighted

	// What the last look found, by the number of the pool in the account of fairness; used
	// by one goroutine alone.
	at   time.Time
	seen []poolLook

	written time.Time // the last attempt to write
	writes  bool      // whether this server writes
}

// New returns a reader of the past of a loop. It takes nothing down before [Recorder.Keep].
func New(loop *engine.Loop) *Recorder {
	return &Recorder{loop: loop, moving: semaphore.NewWeighted(historyReaders)}
}

// heldStep is one step of all pools.
type heldStep struct {
	at    time.Time
	pools map[string]*queue.HistoryStep
}

// poolLook is what a look finds of a pool.
type poolLook struct {
	path            string
	busy            bool
	ideal, received float64 // slot-seconds since the account began
	now             queue.HistoryStep

	// Of a pool that the configuration names it is also taken down that its share has changed,
	// though it has nothing to do: told is the one that is known of it. It is told until the end
	// of a whole step, as what a pool had in its last step is taken for what it has afterwards.
	changed  bool
	reported float64
	telling  time.Time
}

// How the history of the pools is taken down. Looking at all of them takes at most a
// hundredth of the time.
const (
	historyLook = 2 * time.Second  // between two looks
	historyGap  = 30 * time.Second // the values in a longer gap are unknown
	historyHeld = 10 * time.Minute // how much is held for a database that is away
	historyMax  = 5000             // pools in one step
	historyRows = 250              // pools in one transaction
)

// historyReaders bounds how many read the history at once.
const historyReaders = 1000
