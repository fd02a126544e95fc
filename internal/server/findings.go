package server

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead/internal/api"
)

// findings are the latest results of checks. The checks load the disk or the database, and anybody may ask: therefore
// they run once for all who ask at the same time.
type findings struct {
	look func(context.Context) []api.HealthCheck

	mu      sync.Mutex  // held during the checks
	busy    atomic.Bool // checks run in the background
	last    atomic.Pointer[api.Diagnosis]
	changes atomic.Uint64
}

// Bounds of checks in the background: how long they may take, and how long a page waits for them. With a hundred
// thousand jobs, counting takes longer than a page may.
const (
	findingsTime = time.Minute
	findingsWait = 20 * time.Millisecond
)

// within returns findings that are no older than age.
func (f *findings) within(ctx context.Context, age time.Duration) *api.Diagnosis {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.last.Load()
	if !f.old(age) {
		return last
	}
	checks := f.look(ctx)
	found := &api.Diagnosis{Version: api.Version, At: time.Now(), Result: api.Worst(checks), Checks: checks}
	if ctx.Err() != nil { // canceled checks say nothing about the server
		return found
	}
	f.last.Store(found)
	if last == nil || !reflect.DeepEqual(texts(last.Checks), texts(checks)) {
		f.changes.Add(1)
	}
	return found
}

// latest returns the latest findings, or nil before the first. If the findings are older than age, new checks run in
// the background, and latest waits a moment for them.
func (f *findings) latest(ctx context.Context, age, wait time.Duration) *api.Diagnosis {
	if f.old(age) && f.busy.CompareAndSwap(false, true) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer f.busy.Store(false)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), findingsTime)
			defer cancel()
			f.within(ctx, age)
		}()
		select {
		case <-done:
		case <-time.After(wait):
		}
	}
	return f.last.Load()
}

func (f *findings) old(age time.Duration) bool {
	last := f.last.Load()
	return last == nil || time.Since(last.At) >= age
}

// texts returns what a page shows of the checks.
func texts(checks []api.HealthCheck) (out []string) {
	for _, c := range checks {
		out = append(out, c.Name, c.Result, c.Text, c.Next)
	}
	return out
}
