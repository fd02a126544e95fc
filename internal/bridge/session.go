package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/wait"
	"github.com/fairlead/fairlead/queue"
)

// join joins the server as a node until the server accepts. It claims all tasks in the ledger, because
// otherwise the server would give them to others.
func (b *Bridge) join(ctx context.Context) error {
	return b.persist(ctx, func() error {
		b.state.mu.Lock()
		req := api.JoinRequest{
			Capacity: b.o.capacity(b.state.unit), Labels: b.o.Labels, Version: b.o.Version, Host: b.o.Host, Instance: b.name,
			Running: []queue.Ref{}, Again: true, Ledger: b.state.ledger.id, TakeOver: b.o.TakeOver,
			LeaseSeconds: b.o.Lease.Seconds(),
		}
		for _, it := range b.state.items {
			req.Running, req.Since = append(req.Running, it.lease.Ref), append(req.Since, it.start())
			it.unreported = true
		}
		b.state.mu.Unlock()
		r, err := b.o.Client.Join(ctx, b.o.Name, req)
		if err != nil {
			return fmt.Errorf("join the server as %s: %w", b.o.Name, err)
		}
		b.state.mu.Lock()
		b.state.session, b.state.renewed = r.Session, time.Time{}
		b.state.ttl = time.Duration(r.TTLSeconds * float64(time.Second))
		b.state.refused, b.state.release = nil, nil // they are not in running, so the server has released them
		for _, ref := range r.Foreign {
			b.state.disown(ref)
		}
		b.state.mu.Unlock()
		wait.Wake(b.state.signals.news)
		b.log.Info("joined", "node", b.o.Name, "tasks", len(req.Running))
		if b.o.Joined != nil {
			b.o.Joined()
		}
		return nil
	})
}

// polls asks the server for work and takes the answers, until ctx ends.
func (b *Bridge) polls(ctx context.Context) {
	var answers sync.WaitGroup
	defer answers.Wait() // they use logs that are closed when the bridge ends
	try := b.tryServer()
	for ctx.Err() == nil {
		b.state.mu.Lock()
		ack, held := b.state.ack, b.state.held
		b.state.held = false
		req := api.PollRequest{Session: b.state.session, Ack: ack, WaitSeconds: 30}
		b.state.mu.Unlock()
		if held && !wait.For(ctx, 100*time.Millisecond) {
			return
		}
		r, err := b.o.Client.Poll(ctx, b.o.Name, req)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			try.Again(ctx, err)
			continue
		case r.Displaced:
			b.state.fail(
				fmt.Errorf("another bridge has joined the server as node %q; give this one its own name with --name",
					b.o.Name))
			return
		case r.Rejoin:
			if err := b.join(ctx); err != nil {
				if ctx.Err() == nil {
					b.state.fail(err)
				}
				return
			}
		}
		try.Answered()
		b.state.mu.Lock()
		b.state.ack = b.state.ack[len(ack):]
		b.state.mu.Unlock()
		if b.accept(r.Start) != nil {
			return
		}
		b.state.stops(r.Stop)
		for _, l := range r.Logs {
			answers.Go(func() { b.answerLog(ctx, l) })
		}
	}
}

// accept takes leases. If the bridge already has an entry of the task, the entry continues under the new
// attempt. The bridge writes new tasks to the ledger before it acknowledges and submits them.
func (b *Bridge) accept(leases []api.Lease) error {
	if len(leases) == 0 {
		return nil
	}
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	now := time.Now()
	var changed, fresh []*item
	for _, l := range leases {
		it := b.state.items[task{l.JobID, l.Task}]
		switch {
		case b.state.draining && (it == nil || it.lease.Ref != l.Ref):
			b.state.release = append(b.state.release, l.Ref)
		case b.state.isLeaving(l.Ref):
			b.state.held = true
			continue
		case it == nil && b.state.station().ring(&l) != "":
			b.state.refuse(l, b.state.station().ring(&l))
		case it == nil && l.Job.Gang > 1:
			b.state.refuse(l, "a bridge takes no gangs: their tasks need one another, and the queueing system would "+
				"start them one by one")
		case it == nil:
			if it = b.state.begin(l, now); it != nil {
				fresh = append(fresh, it)
			}
		case it.lease.Ref == l.Ref:
			it.live = true
		case !b.state.adopt(it, l):
			b.state.held = true
			continue
		default:
			changed = append(changed, it)
		}
		b.state.ack = append(b.state.ack, l.Ref)
	}
	if err := b.state.change(append(changed, fresh...), nil); err != nil {
		return err
	}
	for _, it := range fresh {
		b.state.items[it.task()] = it
	}
	b.state.send = append(b.state.send, fresh...)
	wait.Wake(b.state.signals.work)
	wait.Wake(b.state.signals.news)
	return nil
}

// answerLog sends the server a part of the output of a task, as far as the QS returned it.
func (b *Bridge) answerLog(ctx context.Context, r api.LogRequest) {
	x, err := b.state.logs.ReadAt(r.JobID, r.Task, r.Attempt, r.Offset, r.Limit)
	reply := api.LogReply{Chunk: api.LogChunk{Data: x.Data, Offset: x.Offset, Size: x.Size}}
	if errors.Is(err, fs.ErrNotExist) {
		reply.Error = b.state.noOutput(r.Ref)
	} else if err != nil {
		reply.Error = err.Error()
	}
	if err := b.o.Client.ReplyLog(ctx, b.o.Name, r.ID, reply); err != nil && ctx.Err() == nil {
		b.log.Warn("output could not be sent", "task", r.Ref, "error", err)
	}
}
