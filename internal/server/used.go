package server

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// usedNow holds what running tasks use, as their agents reported it with the latest renewals. It is kept only in
// memory, because it is only displayed, and a write for each task and renewal would load the database.
type usedNow struct {
	mu  sync.Mutex
	all byTask[measure]
}

type measure struct {
	attempt int
	node    string
	used    views.Used
}

// report keeps what a node reports about attempts that it renewed; the argument "errs" has the answers.
func (m *usedNow) report(node string, refs []queue.Ref, used []views.Used, errs []*api.Error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, ref := range refs {
		if i >= len(used) || i < len(errs) && errs[i] != nil || used[i].Elapsed <= 0 {
			continue
		}
		u := used[i]
		u.Tasks, u.At = 1, &now
		m.all.put(ref.JobID, ref.Task, measure{ref.Attempt, node, u})
	}
}

// drop forgets attempts that are over.
func (m *usedNow) drop(refs []queue.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all.drop(refs, func(x measure) int { return x.attempt })
}

// leave forgets what a node reported.
func (m *usedNow) leave(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all.dropIf(func(x measure) bool { return x.node == node })
}

// of returns what the measured tasks of a job use together; nil if none is measured.
func (m *usedNow) of(job int64) *views.Used {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum views.Used
	for _, x := range m.all[job] {
		sum.Tasks++
		sum.CPU += x.used.CPU
		sum.Memory += x.used.Memory
		sum.Elapsed += x.used.Elapsed
		if sum.At == nil || x.used.At.Before(*sum.At) {
			sum.At = x.used.At
		}
	}
	if sum.Tasks == 0 {
		return nil
	}
	return &sum
}
