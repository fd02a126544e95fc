package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
)

// settleEvery is how often the server is asked about tasks whose lease is gone.
const settleEvery = 30 * time.Second

// settles asks the server what became of tasks whose lease is not ours any more, until ctx
// ends. One that waits is leased again, and its entry goes on under the new attempt; one
// that is over, or runs elsewhere, is taken out of the QS.
func (b *Bridge) settles(ctx context.Context) {
	for wait(ctx, b.settle, settleEvery) {
		b.mu.Lock()
		var lost []*item
		for _, it := range b.items {
			if !it.live {
				lost = append(lost, it)
			}
		}
		b.mu.Unlock()
		for _, it := range lost {
			if ctx.Err() == nil {
				b.settleOne(ctx, it)
			}
		}
		if len(lost) > 0 && !sleep(ctx, time.Second) {
			return
		}
	}
}

func (b *Bridge) settleOne(ctx context.Context, it *item) {
	b.mu.Lock()
	ref := it.lease.Ref
	b.mu.Unlock()
	j, err := b.o.Client.JobTasks(ctx, ref.JobID, ref.Task-1, 1)
	var h *api.History
	if err == nil {
		h, err = b.o.Client.TaskHistory(ctx, ref.JobID, ref.Task)
	}
	if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
		return // later
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.items[it.task()] != it || it.lease.Ref != ref || it.live {
		return // meanwhile it has a lease again, or has gone
	}
	switch fate(j, h, ref, b.o.Name) {
	case fateOver:
		b.abandon(it, "its job has ended, or runs elsewhere")
	case fateOurs:
		it.live, it.stale = true, false
	case fateWaits:
		it.adoptable = true
	}
	poke(b.news)
}

// What became of a task whose lease was lost.
const (
	fateOver  = iota // nobody wants it of us any more
	fateOurs         // it is leased to us as before
	fateWaits        // it is leased again, or will be, and its entry may go on
)

// fate is what became of the task of an attempt.
func fate(j *api.JobResponse, h *api.History, ref fairlead.Ref, node string) int {
	if j == nil || fairlead.State(j.Job.State).Ended() {
		return fateOver
	}
	for _, t := range j.Tasks {
		if t.Task != ref.Task {
			continue
		}
		running := t.State == string(fairlead.Running)
		switch {
		case fairlead.State(t.State).Ended(), running && t.Node != node:
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

// noted reports whether the server took note of the end of an attempt whose task was to be
// tried again, and its reply was lost; or of the end of a later attempt, made by another bridge
// that had our name meanwhile. What came before that decides nothing any more.
func noted(h *api.History, ref fairlead.Ref) bool {
	for _, e := range h.Events {
		var attempt int
		if e.Task != ref.Task || e.Code != "again" {
			continue
		}
		if n, _ := fmt.Sscanf(e.Text, "attempt %d on ", &attempt); n == 1 && attempt >= ref.Attempt {
			return true
		}
	}
	return false
}
