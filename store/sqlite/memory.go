package sqlite

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/store/internal/life"
	"github.com/fairlead/fairlead/usage"
)

// memory is the part of the file that the process keeps in memory; no other process has the file open.
type memory struct {
	unit string // resource for which tasks are charged

	mu       sync.Mutex // guards the following fields
	catalog  catalog
	runs     map[taskKey]*lease
	counters map[int64]*queue.Counters // by pool
	accounts map[int64]account         // by pool
	since    map[int64]time.Time       // when the first job came into each pool
	makers   map[int64]string          // user of that job
	days     int                       // number of days that are kept
	awaited  map[int64]int             // by job: the number of jobs that depend on it
	clock    usage.Clock
	feed     life.Feed
	fresh    fresh
	closed   bool
}

func newMemory(unit string) *memory {
	return &memory{
		unit: unit,
		runs: map[taskKey]*lease{}, counters: map[int64]*queue.Counters{}, accounts: map[int64]account{},
		catalog: catalog{
			pools: map[string]int64{}, paths: map[int64]string{},
			requestIDs: map[string]int64{}, requests: map[int64]queue.Amounts{},
		},
		since: map[int64]time.Time{}, makers: map[int64]string{}, awaited: map[int64]int{},
		fresh: fresh{map[int64]freshJob{}},
	}
}

type taskKey struct {
	job int64
	idx int
}

// lease is the knowledge of a process about a running task: the end of its lease, and the data that would otherwise
// have to be read when the task ends.
type lease struct {
	ref     queue.Ref
	holder  string
	until   time.Time
	started time.Time
	charge  float64
	pool    int64
	job     queue.Header
	ending  chan struct{} // closed when it is known whether it expired; nil: nobody is ending it
}

// alive returns an error if the store is closed.
func (m *memory) alive() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return queue.ErrClosed
	}
	return nil
}

// close reports false if the store was closed before.
func (m *memory) close() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := !m.closed
	m.closed = true
	return first
}

// held returns the lease of an attempt, if its job has one task and this process leased it.
func (m *memory) held(ref queue.Ref) *lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.runs[taskKey{ref.JobID, ref.Task}]
	if l == nil || l.ref != ref || l.job.Tasks != 1 {
		return nil
	}
	return l
}

// takeFresh removes and returns a job that has not changed since its submission.
func (m *memory) takeFresh(id int64) (freshJob, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.fresh.jobs[id]
	delete(m.fresh.jobs, id)
	return f, ok
}

func (m *memory) path(id int64) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.catalog.paths[id]
}

func (m *memory) request(id int64) queue.Amounts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.catalog.requests[id]
}
