package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// settleEvery is the interval at which the bridge asks the server about tasks whose leases are lost.
const settleEvery = 30 * time.Second

// settles asks the server about the tasks whose leases the bridge has lost, until ctx ends. If a task waits,
// the server leases it again, and its entry continues under the new attempt. If the task is over or runs
// elsewhere, its entry leaves the QS.
func (b *Bridge) settles(ctx context.Context) {
	for wait.On(ctx, b.state.signals.settle, settleEvery) {
		b.state.mu.Lock()
		var lost []*item
		for _, it := range b.state.items {
			if !it.live {
				lost = append(lost, it)
			}
		}
		b.state.mu.Unlock()
		for _, it := range lost {
			if ctx.Err() == nil {
				b.settleOne(ctx, it)
			}
		}
		if len(lost) > 0 && !wait.For(ctx, time.Second) {
			return
		}
	}
}

func (b *Bridge) settleOne(ctx context.Context, it *item) {
	b.state.mu.Lock()
	ref := it.lease.Ref
	b.state.mu.Unlock()
	j, err := b.o.Client.Jobs.Tasks(ctx, ref.JobID, ref.Task-1, 1)
	var h *api.History
	if err == nil {
		h, err = b.o.Client.Jobs.History(ctx, ref.JobID, ref.Task)
	}
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return // try again later
	}
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	if b.state.items[it.task()] != it || it.lease.Ref != ref || it.live {
		return // meanwhile it got a lease again, or is gone
	}
	switch fate(j, h, ref, b.o.Name) {
	case fateOver:
		b.state.abandon(it, "its job has ended, or runs elsewhere")
	case fateOurs:
		it.live, it.stale = true, false
	case fateWaits:
		it.adoptable = true
	}
	wait.Wake(b.state.signals.news)
}

// Fates of a task whose lease was lost.
const (
	fateOver  = iota // we must give it up
	fateOurs         // it is still leased to us
	fateWaits        // it is leased again, or will be, and its entry may continue
)

// fate returns the fate of the task of an attempt.
func fate(j *api.JobResponse, h *api.History, ref queue.Ref, node string) int {
	if j == nil || queue.State(j.Job.State).Ended() {
		return fateOver
	}
	for _, t := range j.Tasks {
		if t.Task != ref.Task {
			continue
		}
		running := t.State == string(queue.Running)
		switch {
		case queue.State(t.State).Ended(), running && t.Node != node:
			return fateOver
		case running && t.Attempt == ref.Attempt:
			return fateOurs
		}
	}
	if noted(h, ref) {
		return fateOver
	}
	return fateWaits
}

// noted reports whether the server recorded the end of this attempt and wants another attempt, or recorded
// the end of a later attempt. In the first case its reply to our report was lost; in the second, another
// bridge with our name made the later attempt meanwhile. Earlier attempts do not count.
func noted(h *api.History, ref queue.Ref) bool {
	for _, e := range h.Events {
		var attempt int
		if e.Task != ref.Task || e.Code != "again" && e.Code != "refused" {
			continue
		}
		if n, _ := fmt.Sscanf(e.Text, "attempt %d ", &attempt); n == 1 && attempt >= ref.Attempt {
			return true
		}
	}
	return false
}
