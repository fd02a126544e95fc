package postgres

import (
	"sync"
	"time"
)

// feedKept is how long changes stay in the feed for slow readers.
const feedKept = 2 * time.Minute

// fates numbers the transactions of a store, and records which of them may have taken effect without the store's
// knowledge, because the connection was lost during the commit. The store must read the changes of such a transaction
// from the feed, like those of other stores. When it reads the feed, it skips the changes of its transactions with
// known results.
type fates struct {
	mu   sync.Mutex
	last int64
	open map[int64]bool      // transactions in progress, and whether the feed was read with them
	lost map[int64]time.Time // transactions that may have taken effect, and since when
}

// turns are the bits of an origin that number a transaction. No two transactions in progress have the same number; 0 is
// never used.
const turns = 1<<24 - 1

// begin returns the origin of another transaction.
func (f *fates) begin(origin int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open, f.lost = map[int64]bool{}, map[int64]time.Time{}
	}
	f.last = f.last%turns + 1
	delete(f.lost, f.last) // its entry is from millions of transactions ago
	f.open[f.last] = false
	return origin | f.last
}

// end records that a transaction is over, and whether it may have taken effect without an answer. It reports whether
// the feed was read without the changes of the transaction, because the store assumed that it knew them.
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

// known reports whether the store knows the changes of a transaction in the feed: it was answered, or will be.
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
