package server

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/why"
)

// bridged is where tasks are in other queueing systems, as bridges told. It is kept as long
// as they run, in memory: a bridge tells it again when it joins again.
type bridged struct {
	mu  sync.Mutex
	all map[int64]map[int]note // by job and task
}

type note struct {
	attempt int
	why.Bridged
}

// note keeps where a bridge says that its tasks are, and takes down which of them have begun.
func (s *Server) note(ctx context.Context, x *session, notes []api.Note) error {
	s.bridged.tell(notes)
	var began []fairlead.Progress
	for _, n := range notes {
		if n.Bridged.Began != nil {
			began = append(began, fairlead.Progress{Ref: n.Ref, Began: *n.Bridged.Began})
		}
	}
	return x.member.Progress(ctx, began)
}

// heldReason says, of a job that a node holds, what is to be said beside that it runs: that it
// waits in another queueing system, or is being cancelled.
func heldReason(j *fairlead.Job, in []why.Bridged) *api.Reason {
	switch {
	case j.Cancel && j.Running > 0 && len(in) == 0:
		return &api.Reason{Code: string(why.StateStopping), Text: "is being cancelled"}
	case j.Cancel && j.Running > 0:
		return &api.Reason{Code: string(why.StateStopping), Text: "is being cancelled: " + in[0].Line()}
	case j.State == fairlead.Queued && j.Waiting == 0 && len(in) == 0:
		return &api.Reason{Code: string(why.StateQueued), Text: "was handed to a bridge, and waits behind it"}
	case j.State == fairlead.Queued && j.Waiting == 0:
		return &api.Reason{Code: string(why.StateQueued), Text: in[0].Line()}
	}
	return nil
}

// tell keeps what a bridge says.
func (b *bridged) tell(notes []api.Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[int64]map[int]note{}
	}
	for _, n := range notes {
		of := b.all[n.JobID]
		if of == nil {
			of = map[int]note{}
			b.all[n.JobID] = of
		}
		n.Bridged.Task = n.Task
		of[n.Task] = note{n.Attempt, n.Bridged}
	}
}

// drop forgets attempts that are over.
func (b *bridged) drop(refs []fairlead.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range refs {
		if of := b.all[r.JobID]; of != nil && of[r.Task].attempt <= r.Attempt {
			delete(of, r.Task)
			if len(of) == 0 {
				delete(b.all, r.JobID)
			}
		}
	}
}

// hearsLost is an observer that also forgets where an attempt was that was lost: the next one may be
// with somebody else.
type hearsLost struct {
	fairlead.Observer
	bridged *bridged
}

// Lost implements fairlead.Observer.
func (h hearsLost) Lost(ref fairlead.Ref) {
	h.Observer.Lost(ref)
	h.bridged.drop([]fairlead.Ref{ref})
}

// leave forgets what a bridge told: it left, or tells it again.
func (b *bridged) leave(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, of := range b.all {
		for i, n := range of {
			if n.Bridge == node {
				delete(of, i)
			}
		}
		if len(of) == 0 {
			delete(b.all, id)
		}
	}
}

// of is where the tasks of a job are, in the order of their numbers.
func (b *bridged) of(job int64) []why.Bridged {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []why.Bridged
	for _, n := range b.all[job] {
		out = append(out, n.Bridged)
	}
	slices.SortFunc(out, func(a, b why.Bridged) int { return cmp.Compare(a.Task, b.Task) })
	return out
}
