package postgres

import (
	"sync"
	"time"
)

// feedKept is for how long changes are kept in the feed for those who are behind.
const feedKept = 2 * time.Minute

// fates numbers the transactions of a store, and remembers which of them may have taken effect
// without the store's knowledge: when the connection is lost during the commit. What such a
// transaction changed has to be read from the feed, as what others change is. The transactions
// that are answered are left out when the feed is read.
type fates struct {
	mu   sync.Mutex
	last int64
	open map[int64]bool      // transactions under way, and whether they have been read in the feed
	lost map[int64]time.Time // transactions that may have taken effect or not, since when
}

// turns are the bits of an origin that number a transaction. No two that are under way have the
// same number; 0 is nobody's.
const turns = 1<<24 - 1

// begin returns the origin of another transaction.
func (f *fates) begin(origin int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open, f.lost = map[int64]bool{}, map[int64]time.Time{}
	}
	f.last = f.last%turns + 1
	delete(f.lost, f.last) // that was millions of transactions ago
	f.open[f.last] = false
	return origin | f.last
}

// end takes down that a transaction is over, and whether it may have taken effect without an
// answer. It reports whether the feed was read without its changes, which were taken for known.
func (f *fates) end(origin int64, unknown bool) (missed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := origin & turns
	read := f.open[n]
	delete(f.open, n)
	if !unknown {
		return false
	}
	for old, since := range f.lost { // read already, or never to be read
		if time.Since(since) > feedKept {
			delete(f.lost, old)
		}
	}
	if !read {
		f.lost[n] = time.Now()
	}
	return read
}

// known reports whether the store knows what a transaction changed that is read in the feed: it
// was answered, or will be.
func (f *fates) known(origin int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := origin & turns
	if _, open := f.open[n]; open {
		f.open[n] = true
	}
	_, lost := f.lost[n]
	delete(f.lost, n)
	return !lost
}
