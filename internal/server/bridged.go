package server

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/views"
	"github.com/fairlead/fairlead/queue"
	"github.com/fairlead/fairlead/why"
)

// bridged holds where tasks are in other queueing systems, as bridges reported. It is kept only in memory, while the
// tasks run, because a bridge reports it again when it joins again.
type bridged struct {
	mu   sync.Mutex
	all  byTask[note] // where tasks are
	used usedNow      // what the tasks of agents use; an entry ends with its task, as in all
}

type note struct {
	attempt int
	why.Bridged
}

// note keeps where a bridge says that its tasks are, and records which of them have begun. It ignores tasks that
// another node holds.
func (s *agentService) note(ctx context.Context, x *session, notes []api.Note) error {
	if len(notes) > 0 && !x.bridge {
		return &queue.Invalid{Field: "notes",
			Msg: "only a bridge may send this; this agent is not a bridge, because it named no ledger when it joined"}
	}
	refs := make([]queue.Ref, len(notes))
	for i := range notes {
		refs[i] = notes[i].Ref
		notes[i].Bridged.Bridge = x.name
	}
	errs, err := x.member.Holds(ctx, refs)
	if err != nil {
		return err
	}
	own := notes
	if errs != nil {
		own = nil
		for i, n := range notes {
			if errs[i] == nil {
				own = append(own, n)
			}
		}
	}
	s.bridged.report(own)
	var began []queue.Progress
	for _, n := range own {
		if n.Bridged.Began != nil {
			began = append(began, queue.Progress{Ref: n.Ref, Began: *n.Bridged.Began})
		}
	}
	return x.member.Progress(ctx, began)
}

// heldReason explains a job that a node holds but does not simply run: the job waits in another queueing system, or is
// being canceled.
func heldReason(j *queue.Job, in []why.Bridged) *api.Reason {
	switch {
	case j.Cancel && j.Running > 0 && len(in) == 0:
		return &api.Reason{Code: string(why.StateStopping), Text: "is being canceled"}
	case j.Cancel && j.Running > 0:
		return &api.Reason{Code: string(why.StateStopping), Text: "is being canceled: " + in[0].Line()}
	case j.State == queue.Queued && j.Waiting == 0 && len(in) == 0:
		return &api.Reason{Code: string(why.StateQueued), Text: "was handed to a bridge, and waits behind it"}
	case j.State == queue.Queued && j.Waiting == 0:
		return &api.Reason{Code: string(why.StateQueued), Text: in[0].Line()}
	}
	return nil
}

// stoppedReason explains a job that continues although all of its started tasks were told to end. The tasks still run;
// they must end because the job was requeued, because it makes room for others, or because it was canceled and the
// cancel was undone.
func stoppedReason(t views.TasksNow) *api.Reason {
	if t.Running == 0 || t.Stopping < t.Running {
		return nil
	}
	return &api.Reason{Code: string(why.StateRunning), Text: "is being stopped, and then waits again"}
}

// report keeps what a bridge reports.
func (b *bridged) report(notes []api.Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range notes {
		n.Bridged.Task = n.Task
		b.all.put(n.JobID, n.Task, note{n.Attempt, n.Bridged})
	}
}

// dropOwn forgets attempts that are over, if the node holds or held them.
func (s *agentService) dropOwn(ctx context.Context, x *session, refs []queue.Ref) error {
	errs, err := x.member.Holds(ctx, refs)
	if err != nil {
		return err
	}
	if errs == nil {
		s.bridged.drop(refs)
		return nil
	}
	for i, ref := range refs {
		if errs[i] == nil {
			s.bridged.drop([]queue.Ref{ref})
		}
	}
	return nil
}

// drop forgets attempts that are over.
func (b *bridged) drop(refs []queue.Ref) {
	b.used.drop(refs)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.drop(refs, func(n note) int { return n.attempt })
}

// hearsLost is an observer that also forgets where a lost attempt was: another node may hold the next one.
type hearsLost struct {
	engine.Observer
	bridged *bridged
}

// Lost implements engine.Observer.
func (h hearsLost) Lost(ref queue.Ref) {
	h.Observer.Lost(ref)
	h.bridged.drop([]queue.Ref{ref})
}

// leave forgets what a bridge reported, because it left or will report it again.
func (b *bridged) leave(node string) {
	b.used.leave(node)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.dropIf(func(n note) bool { return n.Bridge == node })
}

// of returns where the tasks of a job are, in the order of their numbers.
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

// agentService lets agents and bridges join, hands them work, and receives their reports.
type agentService struct {
	loop      *engine.Loop
	log       *slog.Logger
	addresses *addresses
	agents    *agents
	bridged   *bridged
	ledgers   *ledgers
	joins     *joinService
	joining   sync.Mutex // held while an agent joins, from the check that its name is free
}
