package server

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
)

// usedNow holds what running tasks use, as their agents reported it with the latest renewals. It is kept in memory
// only: it is for display, and a write for each task and renewal would load the database.
type usedNow struct {
	mu  sync.Mutex
	all map[int64]map[int]measure // by job and task
}

type measure struct {
	attempt int
	node    string
	used    views.Used
}

// report keeps what a node reports about attempts that it renewed; errs are the answers.
func (m *usedNow) report(node string, refs []queue.Ref, used []views.Used, errs []*api.Error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[int64]map[int]measure{}
	}
	for i, ref := range refs {
		if i >= len(used) || i < len(errs) && errs[i] != nil || used[i].Elapsed <= 0 {
			continue
		}
		of := m.all[ref.JobID]
		if of == nil {
			of = map[int]measure{}
			m.all[ref.JobID] = of
		}
		u := used[i]
		u.Tasks, u.At = 1, &now
		of[ref.Task] = measure{ref.Attempt, node, u}
	}
}

// drop forgets attempts that are over.
func (m *usedNow) drop(refs []queue.Ref) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range refs {
		if of := m.all[r.JobID]; of != nil && of[r.Task].attempt <= r.Attempt {
			delete(of, r.Task)
			if len(of) == 0 {
				delete(m.all, r.JobID)
			}
		}
	}
}

// leave forgets what a node reported.
func (m *usedNow) leave(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, of := range m.all {
		for i, x := range of {
			if x.node == node {
				delete(of, i)
			}
		}
		if len(of) == 0 {
			delete(m.all, id)
		}
	}
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
