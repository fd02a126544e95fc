//go:build real

package main

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/queue"
)

// order is a job that a client sent, and the state in which it has to end.
type order struct {
	spec   api.Spec
	want   queue.State
	noted  bool // its tasks write to the ledger
	cancel bool // the client cancels it as soon as it is acknowledged
}

// record holds the clients' knowledge: sent and acknowledged jobs. The audit compares the server with it.
type record struct {
	t testing.TB

	mu         sync.Mutex
	sent       map[string]*order // by key
	ids        map[string]int64  // acknowledged ids, by key
	keys       map[int64]string
	fresh      []int64 // acknowledged since the last takeFresh
	duplicates int     // keys that got two ids
	reused     int     // ids that two keys got
}

func (r *record) send(o *order) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent[o.spec.Key] = o
}

// acknowledged records the answer to a key, which has to be the same each time.
func (r *record) acknowledged(key string, id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, ok := r.ids[key]; ok {
		if first != id {
			r.duplicates++
			r.t.Errorf("key %s got the ids %d and %d", key, first, id)
		}
		return
	}
	if other, ok := r.keys[id]; ok {
		r.reused++
		r.t.Errorf("id %d was given to %s and to %s", id, other, key)
	}
	r.ids[key], r.keys[id] = id, key
	r.fresh = append(r.fresh, id)
}

// count returns how many jobs have been acknowledged.
func (r *record) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ids)
}

// takeFresh returns the jobs acknowledged since its last call.
func (r *record) takeFresh() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.fresh
	r.fresh = nil
	return out
}

// load is several users who submit until they are stopped.
type load struct {
	record  *record
	ledger  ledger
	gangs   bool         // some jobs are gangs
	backlog atomic.Int64 // waiting and running tasks, by the server's last answer
	stop    chan struct{}
	users   sync.WaitGroup
}

// mostBacklog is the maximum number of waiting and running tasks, so that all end soon after the last submission.
const mostBacklog = 300

func newLoad(t testing.TB, l ledger) *load {
	return &load{
		record: &record{t: t, sent: map[string]*order{}, ids: map[string]int64{}, keys: map[int64]string{}},
		ledger: l, stop: make(chan struct{}),
	}
}
