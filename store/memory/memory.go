// Package memory is a store that forgets everything when the program ends. It serves tests and examples, and is the
// reference with which the other stores are compared.
package memory

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/token"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/store/internal/past"
	"github.com/fairlead/fairlead/usage"
)

// Store implements queue.Store in memory.
type Store struct {
	mu         sync.Mutex
	last       int64
	jobs       map[int64]*job
	keys       map[userKey]int64
	digests    map[userKey]string // of the submissions with these keys
	dependents map[int64][]int64
	ledger     ledger
	limits     limits
	journal    journal
	feed       life.Feed
	history    map[past.Key][]byte
	*permits
	stops []queue.Stopped
	*tokens
	closed bool
}

var (
	_ queue.Store      = (*Store)(nil)
	_ queue.Notifier   = (*Store)(nil)
	_ queue.Accountant = (*Store)(nil)
	_ queue.Journal    = (*Store)(nil)
	_ queue.Settings   = (*Store)(nil)
	_ queue.Auditor    = (*Store)(nil)
	_ queue.RateKeeper = (*Store)(nil)
	_ queue.Sharer     = (*Store)(nil)
	_ token.Keeper     = (*Store)(nil)

	_ queue.HistoryKeeper = (*Store)(nil)
)

// New returns an empty store. Tasks are charged by what they request of unit.
func New(unit string) *Store {
	s := &Store{
		jobs: map[int64]*job{}, keys: map[userKey]int64{}, digests: map[userKey]string{}, dependents: map[int64][]int64{},
		ledger:  ledger{unit: unit, clock: usage.NewClock(time.Now(), 0), accounts: map[string]*queue.Account{}},
		limits:  limits{map[string]sched.RateState{}, map[queue.Ref][]sched.Held{}, map[string]int64{}},
		journal: journal{events: map[int64][]queue.Event{}, settings: map[string]string{}},
		permits: newPermits(),
	}
	s.tokens = &tokens{s.lock, s.mu.Unlock, map[string]token.Token{}}
	return s
}

// Close implements queue.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// lock begins an operation; the caller unlocks if there is no error.
func (s *Store) lock(ctx context.Context) (now time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return now, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return now, queue.ErrClosed
	}
	return time.Now(), nil
}

// holder finds the attempt that ref names, if it still is the current one.
func (s *Store) holder(ref queue.Ref) (*job, *queue.Task, error) {
	j := s.jobs[ref.JobID]
	if j == nil {
		return nil, nil, queue.ErrNotFound
	}
	t := j.tasks[ref.Task]
	if t == nil || t.State != queue.Running || t.Attempt != ref.Attempt {
		return nil, nil, queue.ErrStaleAttempt
	}
	return j, t, nil
}
