package web

import (
	"maps"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/account"
)

// keptWaits caches the waits of the pools and users on open pages. They are computed beside the pages, from
// the store alone, so that the scheduler does not wait.
type keptWaits struct {
	mu  sync.Mutex
	all map[whose]*waited
}

// whose is a pool or a user.
type whose struct{ pool, user string }

// waited is the last answer.
type waited struct {
	last   *account.Waits
	err    error
	at     time.Time
	took   time.Duration
	making chan struct{} // closed when the next answer is ready; nil if none is being computed
}

// sharedPart bounds the age of an answer as a multiple of the time to compute it.
const sharedPart = 20

const (
	// waitsAge is the age up to which an answer counts as fresh; if sharedPart times the time to compute the
	// answer is larger, that counts instead.
	waitsAge = 3 * time.Second
	// waitsOld is the age from which an answer is no longer shown while the next one is computed, besides
	// sharedPart times the time to compute it.
	waitsOld = 10 * time.Minute
	// waitsPatience bounds the wait of a page for an answer. The computation continues, for at most
	// waitsLongest.
	waitsPatience = 500 * time.Millisecond
	waitsLongest  = time.Minute
	// waitsKept bounds the number of cached answers, and waitsAtOnce the number of computations at the same
	// time.
	waitsKept   = 500
	waitsAtOnce = 2
)

// known returns the cached answer, if it is not too old.
func (k *keptWaits) known(of whose) (*account.Waits, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.all[of]
	if w == nil || time.Since(w.at) > waitsOld+sharedPart*w.took {
		return nil, nil
	}
	return w.last, w.err
}

// begin starts computing an answer, unless there is a fresh one or too many computations run. It returns a
// channel that is closed when the answer is ready.
func (k *keptWaits) begin(of whose, work func() (*account.Waits, error)) (ready <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.all[of]
	switch {
	case w != nil && w.making != nil:
		return w.making
	case w != nil && time.Since(w.at) < max(waitsAge, sharedPart*w.took), k.busy() >= waitsAtOnce:
		return nil
	case w == nil:
		if len(k.all) >= waitsKept {
			maps.DeleteFunc(k.all, func(_ whose, w *waited) bool { return w.making == nil })
		}
		if k.all == nil {
			k.all = map[whose]*waited{}
		}
		w = &waited{}
		k.all[of] = w
	}
	made := make(chan struct{})
	w.making = made
	go func() {
		began := time.Now()
		last, err := work()
		k.mu.Lock()
		w.last, w.err, w.at, w.took, w.making = last, err, began, time.Since(began), nil
		k.mu.Unlock()
		close(made)
	}()
	return made
}

// busy returns the number of answers that are being computed.
func (k *keptWaits) busy() (n int) {
	for _, w := range k.all {
		if w.making != nil {
			n++
		}
	}
	return n
}
