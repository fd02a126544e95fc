package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
			if !it.live && !it.adoptable {
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
	j, err := b.o.Client.Job(ctx, ref.JobID)
	var h *api.History
	if err == nil {
		h, err = b.o.Client.History(ctx, ref.JobID)
	}
	if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
		return // later
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.items[it.task()] != it || it.lease.Ref != ref || it.live {
		return // meanwhile it has a lease again, or has gone
	}
	switch fate(j, h, ref, b.o.Name, it.stage == ended) {
	case fateOver:
		b.abandon(it, "its job has ended, or runs elsewhere")
	case fateOurs:
		it.live, it.stale = true, false
	case fateUntold:
		it.adoptable = true
	}
	poke(b.news)
}

// What became of a task whose lease was lost.
const (
	fateWaits  = iota // it will be leased again
	fateOver          // nobody wants it of us any more
	fateOurs          // it is leased to us as before
	fateUntold        // it will be leased again, and the server does not know that it has ended
)

// fate is what became of the task of an attempt, and whether the server knows its end.
func fate(j *api.JobResponse, h *api.History, ref fairlead.Ref, node string, ended bool) int {
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
	switch {
	case !ended:
		return fateWaits
	case noted(h, ref):
		return fateOver
	}
	return fateUntold
}

// noted reports whether the server took note of the end of an attempt whose task was to be
// tried again: its reply was lost.
func noted(h *api.History, ref fairlead.Ref) bool {
	for _, e := range h.Events {
		if e.Task == ref.Task && e.Code == "again" && strings.Contains(e.Text, fmt.Sprintf("attempt %d on ", ref.Attempt)) {
			return true
		}
	}
	return false
}
