package web

import (
	"maps"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/account"
)

// keptWaits are the waits of the pools and users that somebody looks at. They are worked out beside
// the pages, from the store alone: the scheduler does not wait for it.
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
	making chan struct{} // closed when the next one is ready; nil: none is being made
}

// sharedPart is how many times as old an answer may be as it took to make.
const sharedPart = 20

const (
	// waitsAge is how old an answer may be, or sharedPart times as old as it took to make.
	waitsAge = 3 * time.Second
	// waitsOld is from when on an answer is shown no more while the next one is made.
	waitsOld = 10 * time.Minute
	// waitsPatience is how long a page waits for it. What was begun goes on, for waitsLongest.
	waitsPatience = 500 * time.Millisecond
	waitsLongest  = time.Minute
	// waitsKept is how many are kept, and waitsAtOnce how many are made at the same time.
	waitsKept   = 500
	waitsAtOnce = 2
)

// known is what there is, if it is not too old.
func (k *keptWaits) known(of whose) (*account.Waits, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.all[of]
	if w == nil || time.Since(w.at) > waitsOld+sharedPart*w.took {
		return nil, nil
	}
	return w.last, w.err
}

// begin sees to it that an answer is made, unless there is a fresh one or there are too many in the making.
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

// busy is how many are being made.
func (k *keptWaits) busy() (n int) {
	for _, w := range k.all {
		if w.making != nil {
			n++
		}
	}
	return n
}
