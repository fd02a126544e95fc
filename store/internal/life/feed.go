package life

import (
	"sync"

	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// The feed keeps changes in chunks. For slow readers, it keeps about as many of the latest changes as the
// constant keep says.
const (
	feedChunk = 1024
	keep      = 32 * feedChunk
)

// Feed keeps the latest changes in order and wakes its waiters. The caller must not call Add, Cursor and After
// concurrently.
type Feed struct {
	first  int64 // cursor before the first change
	count  int64
	chunks [][]queue.Change // all but the last are full

	mu      sync.Mutex
	waiters map[chan<- struct{}]bool
}

// Add appends a change and wakes the waiters.
func (f *Feed) Add(c queue.Change) {
	f.Append(c)
	f.Wake()
}

// Append appends a change; the caller wakes the waiters.
func (f *Feed) Append(c queue.Change) {
	last := len(f.chunks) - 1
	if last < 0 || len(f.chunks[last]) == feedChunk {
		f.chunks = append(f.chunks, make([]queue.Change, 0, feedChunk))
		last++
	}
	f.chunks[last] = append(f.chunks[last], c)
	if f.count++; f.count > keep+feedChunk {
		f.chunks[0] = nil
		f.chunks = f.chunks[1:]
		f.first += feedChunk
		f.count -= feedChunk
	}
}

// Wake wakes the waiters.
func (f *Feed) Wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.waiters {
		wait.Wake(c)
	}
}

// Cursor returns the place after the last change.
func (f *Feed) Cursor() int64 { return f.first + f.count }

// After returns changes after a cursor: at most "most" of them, or all if that is 0.
func (f *Feed) After(cursor int64, most int) ([]queue.Change, int64, error) {
	if cursor < f.first || cursor > f.Cursor() {
		return nil, 0, queue.ErrBehind
	}
	n := int(f.Cursor() - cursor)
	if most > 0 {
		n = min(n, most)
	}
	out := make([]queue.Change, 0, n)
	for at := int(cursor - f.first); len(out) < n; at = (at/feedChunk + 1) * feedChunk {
		rest := f.chunks[at/feedChunk][at%feedChunk:]
		out = append(out, rest[:min(len(rest), n-len(out))]...)
	}
	return out, cursor + int64(n), nil
}

// Notify registers a waiter.
func (f *Feed) Notify(c chan<- struct{}) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiters == nil {
		f.waiters = map[chan<- struct{}]bool{}
	}
	f.waiters[c] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.waiters, c)
	}
}

// Forget drops all changes: every reader with a cursor is behind.
func (f *Feed) Forget() {
	f.first += f.count + 1
	f.count, f.chunks = 0, nil
}
